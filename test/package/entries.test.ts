import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT, readJson } from '../support/entries.ts'
import { testFiles } from '../support/parts.ts'
import { ENTRIES, PEER_ENTRIES } from './entries.ts'
import { ENTRY_FILES } from './entry-files.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const manifest = readJson('package.json')

describe('the list of entries', () => {
  it('Every entry has a source file', () => {
    const sources = Object.values(ENTRIES).map(({ source }) => source)
    expect(sources.filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([])
  })

  it.each(Object.entries(ENTRY_FILES))('%s is as `npm run entries` writes it', (path, written) => {
    expect(read(path), 'run npm run entries').toBe(written(read(path)))
  })

  it('What the README says of an entry has at most eight words', () => {
    const long = Object.values(ENTRIES).filter(({ gives }) => gives.split(/\s+/).length > 8)
    expect(long.map(({ gives }) => gives)).toEqual([])
  })

  it.each([
    ['channels', 'testChannel'],
    ['feedback', 'testSource'],
  ])('A test of each entry of %s calls %s', (folder, call) => {
    const tests = testFiles('quick').filter((file) => file.startsWith(`test/${folder}/`))
    const texts = tests.map(read)
    const names = Object.keys(ENTRIES).flatMap((name) => name.match(`^sallyport/${folder}/(.+)`)?.[1] ?? [])
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !texts.some((text) => text.includes(`${call}('${name}',`)))).toEqual([])
  })

  it('Every feedback source has a row in docs/feedback.md', () => {
    const sources = Object.entries(ENTRIES).filter(([name]) => name.startsWith('sallyport/feedback/'))
    expect(sources.filter(([, { feedback }]) => !feedback).map(([name]) => name)).toEqual([])
  })

  it('A guide names every entry', () => {
    const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    const guides = pages.filter((path) => path.endsWith('.md')).map((path) => read(`docs/${path}`))
    expect(
      Object.keys(ENTRIES).filter((name) => !guides.some((text) => new RegExp(`\\b${name}\\b(?!/)`).test(text))),
    ).toEqual([])
  })

  it('The command line is built', () => {
    expect(manifest.bin).toEqual({ sallyport: 'dist/cli.js' })
  })
})

it('The README names the Node versions of the manifest', () => {
  const [, oldest, next] = /On Node (\d+\.\d+) and later \d+\.x, or (\d+\.\d+) and later:/.exec(read('README.md')) ?? []
  expect(manifest.engines.node).toBe(`^${oldest}.0 || >=${next}.0`)
})

describe('the peer dependencies', () => {
  it('Every peer dependency is optional', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest
    const optional = Object.keys(peerDependencies).map((name) => [name, { optional: true }])
    expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional))
  })

  it('The peer of an entry is a peer dependency, and what is installed for it begins with it', () => {
    const wrong = PEER_ENTRIES.filter(
      ({ peer, install }) => !(peer in manifest.peerDependencies) || install.split(' ')[0] !== peer,
    )
    expect(wrong).toEqual([])
  })
})
