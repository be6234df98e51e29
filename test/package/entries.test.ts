import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import tsup, { PEER_ENTRIES } from '../../tsup.config.ts'
import { entries, ROOT, readJson } from '../support/entries.ts'

const stated = [...entries()]
const manifest = readJson('package.json')
const readme = readFileSync(new URL('README.md', ROOT), 'utf8')

/** The name in `dist`: `storage/memory` for `sallyport/storage/memory`, `index` for `sallyport`. */
const builtAs = (entry: string): string => (entry === 'sallyport' ? 'index' : entry.replace('sallyport/', ''))

describe('the entries', () => {
  it('Every entry has a source file', () => {
    expect(stated.filter(([, file]) => !existsSync(new URL(file, ROOT)))).toEqual([])
  })

  it('The package exports its entries, types first, with a Node build for optional peers', () => {
    const exports = stated.map(([entry]) => {
      const file = `./dist/${builtAs(entry)}`
      const needsPeer = PEER_ENTRIES.some((one) => one.entry === builtAs(entry))
      const forNode = needsPeer && { module: `${file}.js`, node: `${file}.node.js` }
      return [entry.replace('sallyport', '.'), { types: `${file}.d.ts`, ...forNode, default: `${file}.js` }]
    })
    const expected = { ...Object.fromEntries(exports), './package.json': './package.json' }
    expect(JSON.stringify(manifest.exports, null, 2)).toEqual(JSON.stringify(expected, null, 2))
  })

  it('tsup builds exactly the entries, and the command line', () => {
    const built = stated.map(([entry, file]) => [builtAs(entry), `./${file}`])
    expect(tsup.entry).toEqual({ ...Object.fromEntries(built), cli: './src/cli/main.ts' })
    expect(manifest.bin).toEqual({ sallyport: 'dist/cli.js' })
  })

  it('The reference covers exactly the entries', () => {
    expect(readJson('docs/typedoc.json').entryPoints).toEqual(stated.map(([, file]) => `../${file}`))
  })

  it('Knip starts from exactly the entries', () => {
    const roots: string[] = readJson('.knip.json').entry
    expect(roots.filter((file) => file.startsWith('src/'))).toEqual(stated.map(([, file]) => file))
  })

  it('The README lists exactly the entries', () => {
    const rows = readme.matchAll(/^\| `(sallyport[\w/-]*)(?:\{(.+)\})?` \|/gm)
    // `sallyport/feedback/{ses,resend}` stands for several entries.
    const listed = [...rows].flatMap(([, start = '', ends = '']) => ends.split(',').map((end) => start + end))
    expect(listed.sort()).toEqual(stated.map(([entry]) => entry).sort())
  })
})

it('The README names the Node versions of the manifest', () => {
  const [, oldest, next] = /On Node (\d+\.\d+) and later \d+\.x, or (\d+\.\d+) and later:/.exec(readme) ?? []
  expect(manifest.engines.node).toBe(`^${oldest}.0 || >=${next}.0`)
})

describe('the peer dependencies', () => {
  it('Every peer dependency is optional', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest
    const optional = Object.keys(peerDependencies).map((name) => [name, { optional: true }])
    expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional))
  })
})
