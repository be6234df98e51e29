import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const docs = new URL('../../docs/', import.meta.url)
const page = readFileSync(new URL('writing-a-store.md', docs), 'utf8')
const blocks = [...page.matchAll(/^```typescript\n(.*?)^```$/gms)].map(([, code = '']) => code)
const example = (name: string): string => readFileSync(new URL(`examples/${name}`, docs), 'utf8')

describe('the guide to writing a store', () => {
  it.each(['documents-json-file.ts', 'documents-redis.ts'])(
    'The guide to writing a store quotes %s in full',
    (name) => {
      expect(blocks).toContain(example(name))
    },
  )

  it('The guide to writing a store quotes a part of documents-contract.ts and links to the file', () => {
    const [quoted, ...others] = blocks.filter((block) => block.startsWith('documentsContract({'))
    expect(others).toEqual([])
    expect(example('documents-contract.ts')).toContain(quoted?.replaceAll(/^(?=.)/gm, '  '))
    expect(page).toContain('](examples/documents-contract.ts)')
  })

  it('The guide to writing a store shows no other code', () => expect(blocks).toHaveLength(3))

  it.each(['documents-json-file.ts', 'documents-redis.ts'])('The example %s has at most 50 lines', (name) => {
    expect(example(name).split('\n').length - 1).toBeLessThanOrEqual(50)
  })

  it('The examples import only published packages', () => {
    const imported = [...blocks.join('').matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from)
    expect(imported.filter((from) => !/^(?:sallyport\/|node:|ioredis$|\.\/documents-)/.test(from))).toEqual([])
  })
})
