import { describe, expect, it } from 'vitest'
import { loadedBy } from '../package/entries.ts'
import { entries } from '../support/entries.ts'
import { FOLDERS, LAYERS, layerOf } from './layers.ts'
import { parse, readSources, type Source } from './source.ts'

const sources = readSources()

describe('the table of layers', () => {
  it('The table of layers has a row for every file', () => {
    expect(sources.filter(({ path }) => layerOf(path) === '').map(({ path }) => path)).toEqual([])
  })

  it('The table of layers has files for every row, and rows for every named layer', () => {
    const used = new Set(sources.map(({ path }) => layerOf(path)))
    const rows = Object.keys(LAYERS)
    expect(rows.filter((row) => !used.has(row))).toEqual([])
    const stated = Object.values(LAYERS).flatMap(({ layers = [] }) => layers)
    expect(stated.filter((layer) => !rows.includes(layer))).toEqual([])
  })

  it('Every import obeys the table of layers', () => {
    expect(sources.flatMap(forbiddenImports)).toEqual([])
  })

  it.each([
    ['src/core/dispatch/plan.ts', "import { get } from 'node:http'", 'node:http'],
    ['src/core/dispatch/plan.ts', "import type { Wire } from '../../http/answer.ts'", 'src/http/answer.ts'],
    ['src/core/plan.ts', "export * from '../compose/create-sallyport.ts'", 'src/compose/create-sallyport.ts'],
    ['src/adapters/koa.ts', "import { toNode } from './node.ts'", 'src/adapters/node.ts'],
    ['src/adapters/koa.ts', "import type Koa from 'koa'", 'koa'],
    ['src/auth/jwt.ts', "const store = await import('../storage/memory/index.ts')", 'src/storage/memory/index.ts'],
    ['src/engines/liquid.ts', "import 'json-logic-engine/compiler'", 'json-logic-engine'],
    ['src/channels/sms.ts', "type Agent = import('node:http').Agent", 'node:http'],
    ['src/model/run.ts', "import type { Clock } from '../ports/clock.ts'", 'src/ports/clock.ts'],
    ['src/compose/defaults.ts', "import { toFetch } from '../adapters/fetch.ts'", 'src/adapters/fetch.ts'],
  ])('An import from %s is forbidden: %s', (path, text, to) => {
    expect(forbiddenImports(parse(path, text))).toEqual([`${path} may not import ${to}`])
  })
})

describe.each(Object.keys(FOLDERS))('the folders of %s', (root) => {
  const rows = Object.keys(FOLDERS[root] ?? {})

  it('Every file is in a folder with a row, and every row has files', () => {
    const used = sources.filter(({ path }) => path.startsWith(root)).map(({ path }) => folderIn(root, path))
    expect([...new Set(used)].sort()).toEqual([...rows].sort())
  })

  it('The folders import only the folders that their row allows', () => {
    expect(sources.flatMap((source) => upwardImports(root, source))).toEqual([])
  })

  it('A row allows only folders below it, and the folder imports all of them', () => {
    const isUsed = (folder: string, other: string): boolean =>
      sources.some(
        ({ path, imports }) =>
          folderIn(root, path) === folder && imports.some(({ to }) => folderIn(root, to) === other),
      )
    const wrong = rows.flatMap((folder, at) =>
      (FOLDERS[root]?.[folder] ?? [])
        .filter((other) => !rows.slice(0, at).includes(other) || !isUsed(folder, other))
        .map((other) => `${folder} > ${other}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('an import of a higher folder', () => {
  it.each([
    [
      'src/core/runs/',
      'src/core/runs/merge/join.ts',
      "import { rollUp } from '../sessions/roll-up.ts'",
      'src/core/runs/sessions/roll-up.ts',
    ],
    [
      'src/core/runs/',
      'src/core/runs/merge/selectors.ts',
      "import type { Totals } from '../sessions/roll-up.ts'",
      'src/core/runs/sessions/roll-up.ts',
    ],
    [
      'src/core/runs/',
      'src/core/runs/events/event.ts',
      "import { record } from '../record.ts'",
      'src/core/runs/record.ts',
    ],
    [
      'src/core/',
      'src/core/dispatch/accept.ts',
      "import { wake } from '../delivery/wake.ts'",
      'src/core/delivery/wake.ts',
    ],
    [
      'src/core/',
      'src/core/delivery/recheck.ts',
      "import type { Plan } from '../dispatch/plan/plan.ts'",
      'src/core/dispatch/plan/plan.ts',
    ],
    ['src/core/', 'src/core/hooks.ts', "import { view } from './dispatch/view.ts'", 'src/core/dispatch/view.ts'],
  ])('Below %s, an import from %s is forbidden: %s', (root, path, text, to) => {
    expect(upwardImports(root, parse(path, text))).toEqual([`${path} may not import ${to}`])
  })
})

describe('cycles', () => {
  it('No cycle exists among the imports, type imports included', () => {
    expect(cycleAmong(sources)).toEqual([])
  })

  it('The check finds a cycle of three files', () => {
    const cycle3 = [
      parse('src/a.ts', "import type { B } from './b.ts'"),
      parse('src/b.ts', "export { C } from './c/c.ts'"),
      parse('src/c/c.ts', "import type { A } from '../a.ts'"),
    ]
    expect(cycleAmong(cycle3)).toEqual(['src/a.ts', 'src/b.ts', 'src/c/c.ts', 'src/a.ts'])
  })
})

describe('the modules an entry loads', () => {
  it.each([...entries()])('The entry %s loads exactly the stated modules', (entry, file) => {
    // What the build makes is within it.
    expect(loadedFrom(file).filter((module) => !module.startsWith('sallyport:'))).toEqual(loadedBy(entry))
  })

  it('The root, fetch, auth, Liquid and JSON Logic entries load no node: module', () => {
    const everywhere = ['sallyport', 'sallyport/fetch', 'sallyport/auth', 'sallyport/liquid', 'sallyport/json-logic']
    expect(everywhere.flatMap(loadedBy).filter((module) => module.startsWith('node:'))).toEqual([])
  })
})

function forbiddenImports({ path, imports }: Source): string[] {
  const own = layerOf(path)
  const { layers = [], modules = {}, apart = false } = LAYERS[own] ?? {}
  const allowed = Object.entries(modules).flatMap(([prefix, names]) => (path.startsWith(prefix) ? names : []))
  const mayImport = (to: string): boolean => {
    if (!to.startsWith('src/')) return allowed.includes(to)
    const layer = layerOf(to)
    return layer === own ? !apart : layers.includes(layer)
  }
  return imports.flatMap(({ to }) => (mayImport(to) ? [] : `${path} may not import ${to}`))
}

/** The folder of a file below `root`, `''` for the files directly in it; `undefined` for files elsewhere. */
function folderIn(root: string, path: string): string | undefined {
  if (!path.startsWith(root)) return undefined
  const name = path.slice(root.length)
  return name.slice(0, name.indexOf('/') + 1)
}

function upwardImports(root: string, { path, imports }: Source): string[] {
  const own = folderIn(root, path)
  if (own === undefined) return []
  const allowed = [own, ...(FOLDERS[root]?.[own] ?? [])]
  return imports.flatMap(({ to }) => {
    const folder = folderIn(root, to)
    return folder === undefined || allowed.includes(folder) ? [] : `${path} may not import ${to}`
  })
}

function cycleAmong(files: readonly Source[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return []
    for (const { to } of byPath.get(path)?.imports ?? []) {
      const cycle = walk(to, [...trail, path])
      if (cycle.length > 0) return cycle
    }
    done.add(path)
    return []
  }
  return files.map(({ path }) => walk(path, [])).find((cycle) => cycle.length > 0) ?? []
}

function loadedFrom(file: string): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const follow = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const { to, typeOnly } of byPath.get(path)?.imports ?? []) if (!typeOnly) follow(to)
  }
  follow(file)
  return [...reached].filter((path) => !path.startsWith('src/')).sort()
}
