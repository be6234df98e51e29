import { describe, expect, it } from 'vitest'
import { publicNames } from './public-names.ts'

const all = publicNames()

describe('the public names', () => {
  it.each([...all])('%s exports its public values at run time', async (entry, { values }) => {
    expect(Object.keys(await import(entry)).sort()).toEqual(values)
  })

  it.each([...all])('Every public name of %s is documented', (_entry, { undocumented }) => {
    expect(undocumented).toEqual([])
  })
})
