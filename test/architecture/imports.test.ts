import { describe, expect, it } from 'vitest'
import { loadedBy } from '../package/entries.ts'
import { entries } from '../support/entries.ts'
import { LAYERS, layerOf, RUN_FOLDERS } from './layers.ts'
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
    ['src/core/plan.ts', "export * from '../sallyport/create-sallyport.ts'", 'src/sallyport/create-sallyport.ts'],
    ['src/adapters/koa.ts', "import { toNode } from './node.ts'", 'src/adapters/node.ts'],
    ['src/adapters/koa.ts', "import type Koa from 'koa'", 'koa'],
    ['src/auth/jwt.ts', "const store = await import('../storage/memory/index.ts')", 'src/storage/memory/index.ts'],
    ['src/engines/liquid.ts', "import 'json-logic-engine/compiler'", 'json-logic-engine'],
    ['src/channels/sms.ts', "type Agent = import('node:http').Agent", 'node:http'],
    ['src/model/run.ts', "import type { Clock } from '../ports/clock.ts'", 'src/ports/clock.ts'],
    ['src/sallyport/defaults.ts', "import { toFetch } from '../adapters/fetch.ts'", 'src/adapters/fetch.ts'],
  ])('An import from %s is forbidden: %s', (path, text, to) => {
    expect(forbiddenImports(parse(path, text))).toEqual([`${path} may not import ${to}`])
  })
})

describe('the folders of core/runs', () => {
  const runSources = sources.filter(({ path }) => path.startsWith(RUNS))

  it('The folders of core/runs import only the folders that their row allows', () => {
    expect(runSources.flatMap(upwardImports)).toEqual([])
  })

  it('The folders of core/runs use every import that their row allows', () => {
    const used = Object.fromEntries(Object.keys(RUN_FOLDERS).map((folder) => [folder, new Set<string>()]))
    for (const { path, imports } of runSources)
      for (const { to } of imports) if (to.startsWith(RUNS)) used[runFolderOf(path)]?.add(runFolderOf(to))
    const allowed = Object.entries(RUN_FOLDERS).flatMap(([folder, others]) => others.map((other) => [folder, other]))
    expect(allowed.filter(([folder = '', other = '']) => !used[folder]?.has(other))).toEqual([])
  })

  it.each([
    [
      'src/core/runs/merge/join.ts',
      "import { rollUp } from '../sessions/roll-up.ts'",
      'src/core/runs/sessions/roll-up.ts',
    ],
    [
      'src/core/runs/merge/selectors.ts',
      "import type { Totals } from '../sessions/roll-up.ts'",
      'src/core/runs/sessions/roll-up.ts',
    ],
    ['src/core/runs/events/event.ts', "import { record } from '../record.ts'", 'src/core/runs/record.ts'],
  ])('An import from %s to a higher folder is forbidden: %s', (path, text, to) => {
    expect(upwardImports(parse(path, text))).toEqual([`${path} may not import ${to}`])
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

const RUNS = 'src/core/runs/'

function runFolderOf(path: string): string {
  const name = path.slice(RUNS.length)
  return name.slice(0, name.indexOf('/') + 1)
}

function upwardImports({ path, imports }: Source): string[] {
  const own = runFolderOf(path)
  const allowed = [own, ...(RUN_FOLDERS[own] ?? [])]
  const inRuns = imports.filter(({ to }) => to.startsWith(RUNS))
  return inRuns.flatMap(({ to }) => (allowed.includes(runFolderOf(to)) ? [] : `${path} may not import ${to}`))
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
