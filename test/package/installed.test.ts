import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageDocs } from '../../docs/site/portable.ts'
import { parse } from '../architecture/source.ts'
import { entries, readJson } from '../support/entries.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { type BuiltPackage, buildPackage } from './built-package.ts'
import { loadedBy, PEER_ENTRIES } from './entries.ts'
import { publicNames } from './public-names.ts'
import { bin } from './tarball.ts'

const names = publicNames()
let built: BuiltPackage

beforeAll(async () => {
  built = await buildPackage()
}, HANG_MS)

afterAll(() => built?.remove())

describe('the tarball', () => {
  it('The tarball contains the build, the guides, the README, the licence and nothing else', () => {
    const guides = [...packageDocs().keys()].map((name) => `dist/docs/${name}`)
    const rest = built.files.filter((file) => !/^dist\/.+\.(?:js|d\.ts)$/.test(file))
    expect(rest.sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...guides].sort())
  })

  it('The tarball contains every exported file', () => {
    const targets = Object.values<string | Record<string, string>>(readJson('package.json').exports)
    const named = targets.flatMap((target) => (typeof target === 'string' ? target : Object.values(target)))
    expect(named.map((file) => file.replace('./', '')).filter((file) => !built.files.includes(file))).toEqual([])
  })

  it('The package has no install script', () => {
    const scripts = Object.keys(readJson('package.json').scripts)
    expect(scripts.filter((name) => /install|^prepare$/.test(name))).toEqual([])
  })

  it.each([...entries().keys()])('The entry %s loads exactly the listed packages', (entry) => {
    expect(loadedFrom(entry, 'default')).toEqual(loadedBy(entry))
  })

  it.each(PEER_ENTRIES)('The entry for $peer requires it on Node, and imports it elsewhere', ({ entry, peer }) => {
    const others = loadedBy(entry).filter((name) => name !== peer)
    expect(loadedFrom(entry, 'module')).toEqual(loadedBy(entry))
    expect(loadedFrom(entry, 'node')).toEqual(['node:module', ...others])
  })
})

describe('the installed package', () => {
  it('Importing every entry changes nothing in the process', async () => {
    const report = JSON.parse(await built.node('load-entries.mjs'))
    expect(report).toEqual({ names: valuesOf(names), newGlobals: [], newHandles: [] })
  })

  it('Required entries equal the imported ones', async () => {
    const report = JSON.parse(await built.node('load-entries.cjs'))
    expect(report).toEqual({ names: valuesOf(names), doubled: [], faults: [true, true] })
  })

  it('A required or imported entry names its missing peer and the install command', async () => {
    const messages = PEER_ENTRIES.map(({ entry, peer, install }) => {
      const message = `peer_missing: ${entry} needs ${peer}, which is not installed: npm install ${install}`
      return [entry, [message, message]]
    })
    expect(JSON.parse(await built.nodeWithoutPeers('load-without-peers.cjs'))).toEqual(Object.fromEntries(messages))
  })

  it(
    "The example host compiles without Node's types, and works",
    async () => {
      await built.node(bin('typescript', 'tsc'), '-p', '.')
      expect(JSON.parse(await built.node('use.js'))).toEqual({
        statuses: [202, 201],
        dispatch: 'sent',
        sent: ['Order A-1 shipped'],
      })
    },
    HANG_MS,
  )
})

function valuesOf(all: ReturnType<typeof publicNames>): Record<string, string[]> {
  return Object.fromEntries([...all].map(([entry, found]) => [entry, [...found.values].sort()]))
}

/** What the built file of an entry loads. */
function loadedFrom(entry: string, condition: 'default' | 'module' | 'node'): string[] {
  const reached = new Set<string>()
  const follow = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    if (!file.startsWith('dist/')) return
    for (const { to } of parse(file, readFileSync(join(built.installed, file), 'utf8')).imports) follow(to)
  }
  const { exports } = readJson('package.json')
  follow(posix.normalize(exports[entry.replace('sallyport', '.')][condition]))
  return [...reached].filter((name) => !name.startsWith('dist/')).sort()
}
