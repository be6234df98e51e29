import { describe, expect, it } from 'vitest'
import { publicNames } from './public-names.ts'

const all = publicNames()

describe('the public names', () => {
  it('The public names equal the reviewed list', async () => {
    const list = [...all].map(([entry, { values, types }]) =>
      [entry, ...values.map((name) => `  ${name}`), ...types.map((name) => `  type ${name}`)].join('\n'),
    )
    await expect(`${list.join('\n\n')}\n`).toMatchFileSnapshot('public-names.txt')
  })

  it.each([...all])('%s exports its public values at run time', async (entry, { values }) => {
    expect(Object.keys(await import(entry)).sort()).toEqual(values)
  })

  it.each([...all])('Every public name of %s is documented', (_entry, { undocumented }) => {
    expect(undocumented).toEqual([])
  })
})
