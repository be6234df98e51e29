import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { publicNames } from '../package/public-names.ts'
import { PLUGIN_OPTIONS } from '../plugins/options.ts'
import { ROOT } from '../support/entries.ts'
import { testFiles } from '../support/parts.ts'
import { ROWS } from './all-rows.ts'
import { runsOnly, sallyport } from './host-rows.ts'
import { client, recorder } from './part-rows.ts'

/** Calls whose options or arguments a test anywhere checks, with the types of the options: see `option-tests.ts`. */
const TESTED = testFiles('quick').flatMap((file) => {
  const text = readFileSync(new URL(file, ROOT), 'utf8')
  const found = text.matchAll(/\btest(?:Options|Arguments)\(\s*'(sallyport[^']*)'(?:,\s*'([^']+)')?/g)
  return [...found].map(([, call = '', type = '']) => ({ call, type }))
})

const PORTS = 'takes ports with each request: tested in bad-options'

/** Published functions and methods without an options object, with the reason. */
const WITHOUT_OPTIONS: Readonly<Record<string, string>> = {
  'sallyport SallyportError': 'an error',
  'sallyport isSallyportError': 'takes any value',
  'sallyport handleDispatch': PORTS,
  'sallyport handleSessionRun': PORTS,
  'sallyport handleSessionRunBatch': PORTS,
  'sallyport facetsOf': 'a rule of stores',
  'sallyport mergeRun': 'a rule of stores',
  'sallyport ready': 'takes nothing',
  'sallyport onMeasurement': 'takes a function: tested in statistics.test',
  'sallyport worker.start': 'takes nothing',
  'sallyport worker.runDue': 'takes nothing',
  'sallyport/client ClientError': 'an error',
  'sallyport/client recorder.start': 'takes run data, which the server checks',
  'sallyport/client recorder.record': 'takes run data, which the server checks',
  'sallyport/client recorder.flush': 'takes nothing',
  'sallyport/client recorder.close': 'takes nothing',
  'sallyport/client isClientError': 'takes any value',
  'sallyport/client/approvals ClientError': 'an error',
  'sallyport/client/approvals isClientError': 'takes any value',
  'sallyport/client/read ClientError': 'an error',
  'sallyport/client/read isClientError': 'takes any value',
  'sallyport/express keepRawBody': 'is an option of express.json(): tested in raw-bodies',
  'sallyport/json-logic jsonLogic': 'takes nothing',
  'sallyport/plugins actionsOf': 'takes rows, which createSallyport checks',
  'sallyport/plugins recordsOf': 'is for plugins: tested in plugin-records.test',
  'sallyport/storage/engine KINDS': 'a table',
  'sallyport/storage/engine Unreadable': 'a class that backends construct',
  'sallyport/storage/engine columnOf': 'takes the words of a declaration',
  ...Object.assign({}, ...PLUGIN_OPTIONS.map(({ withoutOptions }) => withoutOptions)),
}

/** Methods of the objects that published functions return. */
const METHODS: readonly (readonly [object: string, names: readonly string[]])[] = [
  ['a host', methodsOf('sallyport ', sallyport)],
  ['a host that only records runs', methodsOf('sallyport ', runsOnly)],
  ['a client', methodsOf('sallyport/client client.', client)],
  ['a recorder', methodsOf('sallyport/client recorder.', recorder)],
]

function methodsOf(prefix: string, object: object): readonly string[] {
  return Object.entries(object).flatMap(([name, part]) => {
    // The store is the host's own.
    if (name === 'endpoints' || name === 'store') return []
    return typeof part === 'function' ? [prefix + name] : methodsOf(`${prefix}${name}.`, part)
  })
}

describe('the option table', () => {
  const published = [...publicNames()].flatMap(([entry, { values }]) =>
    WITHOUT_OPTIONS[entry] ? [entry] : values.map((name) => `${entry} ${name}`),
  )
  const calls = new Set([...ROWS, ...TESTED].map(({ call }) => call))
  const isKnown = (name: string): boolean => calls.has(name) || name in WITHOUT_OPTIONS

  it('The option table contains every published function', () => {
    expect(published.filter((name) => !isKnown(name))).toEqual([])
  })

  it.each(METHODS)('The option table contains every method of %s', (_, names) => {
    expect(names.filter((name) => !isKnown(name))).toEqual([])
  })

  it('The option table contains each function once', () => {
    expect(Object.keys(WITHOUT_OPTIONS).filter((name) => calls.has(name))).toEqual([])
    const there = new Set([...published, ...METHODS.flatMap(([, names]) => names)])
    expect([...calls, ...Object.keys(WITHOUT_OPTIONS)].filter((name) => !there.has(name))).toEqual([])
  })

  it('The option table contains every published options type', () => {
    const types = new Set([...ROWS, ...TESTED].flatMap(({ type }) => type.split(/[.|#]/)))
    const published = [...publicNames().values()]
      .flatMap(({ types }) => types)
      .filter((name) => name.endsWith('Options'))
    // Base types are tested with the types that extend them.
    const bases = ['ContractOptions', 'FeedbackSourceOptions', 'ListOptions']
    // Methods that plugins get: tested in plugin-records.test and plugin-commit.test.
    const ofPlugins = ['PluginDispatchOptions', 'PluginPlanOptions', 'RecordListOptions']
    const others = [...bases, ...ofPlugins]
    expect(published.filter((name) => !types.has(name) && !others.includes(name))).toEqual([])
  })
})
