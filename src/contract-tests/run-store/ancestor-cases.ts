import { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
import type { RunAncestor, RunKey, RunStore } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { see } from './reading.ts'
import { decide, put, QUIET, type RunStoreCase, runIds, runKeyOf } from './run-fixtures.ts'
import { changesOf, fullTotals } from './totals-fixtures.ts'

const TOP = { ...QUIET, top: true } as const

async function ancestors(store: RunStore, key: RunKey): Promise<readonly RunAncestor[]> {
  return (await see(store, key)).ancestors
}

async function ancestorIds(store: RunStore, key: RunKey): Promise<readonly string[]> {
  return (await ancestors(store, key)).map(({ runId }) => runId)
}

/** Runs, each of which has the next for its parent. */
async function putChain(store: RunStore, ids: readonly string[]): Promise<void> {
  for (const [at, runId] of ids.entries()) {
    const parentRunId = ids[at + 1]
    await put(store, runKeyOf(runId), parentRunId === undefined ? {} : { parentRunId })
  }
}

/** What a merge finds above its run. */
export const ABOVE_CASES: readonly RunStoreCase[] = [
  {
    name: 'above a run is nothing where neither its state nor the key names a parent',
    async run({ store }) {
      await put(store, runKeyOf('r'))
      equal(await ancestors(store, runKeyOf('r')), [])
    },
  },
  {
    name: 'the parent is the one that the key names, for a run that names none or is not stored',
    async run({ store }) {
      const parent = await put(store, runKeyOf('p'))
      equal(await ancestors(store, runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
      await put(store, runKeyOf('r'))
      equal(await ancestors(store, runKeyOf('r', { parentRunId: 'p' })), [{ runId: 'p', run: parent }])
    },
  },
  {
    name: 'the parent that the state names comes before the one that the key names',
    async run({ store }) {
      await put(store, runKeyOf('r'), { parentRunId: 'p' })
      equal(await ancestorIds(store, runKeyOf('r', { parentRunId: 'q' })), ['p'])
      await put(store, runKeyOf('r'), { parentRunId: 'o' })
      equal(await ancestorIds(store, runKeyOf('r', { parentRunId: 'q' })), ['o'])
    },
  },
  {
    name: 'the runs above are there nearest first, each as it is stored and with what was added below it',
    async run({ store }) {
      const [low, middle, high] = [
        fullTotals('low', 1, '0.1'),
        fullTotals('mid', 2, '0.2'),
        fullTotals('high', 3, '0.3'),
      ]
      await putChain(store, ['r', 'low', 'middle', 'high'])
      const descendants = [
        { runId: 'middle', add: middle },
        { runId: 'low', add: low },
        { runId: 'high', add: high },
      ]
      await decide(store, runKeyOf('r'), { totalsChanges: changesOf({ descendants }) })
      equal(await ancestors(store, runKeyOf('r')), [
        { runId: 'low', run: await store.findRun('t', 'low'), descendants: low },
        { runId: 'middle', run: await store.findRun('t', 'middle'), descendants: middle },
        { runId: 'high', run: await store.findRun('t', 'high'), descendants: high },
      ])
    },
  },
  {
    name: `up to ${MAX_RUNS_ABOVE} runs are above one, and no more are looked at`,
    async run({ store }) {
      const chain = runIds(MAX_RUNS_ABOVE + 9)
      await putChain(store, chain)
      for (const depth of [0, 1, 2, MAX_RUNS_ABOVE - 1, MAX_RUNS_ABOVE, MAX_RUNS_ABOVE + 1, MAX_RUNS_ABOVE + 8]) {
        const from = chain.length - 1 - depth
        const found = await ancestors(store, runKeyOf(`r${from}`))
        equal(
          found.map(({ runId, run }) => [runId, run?.state.runId]),
          chain.slice(from + 1, from + 1 + MAX_RUNS_ABOVE).map((runId) => [runId, runId]),
        )
      }
    },
  },
  {
    name: 'a parent that is not stored is the last, with what was added below it',
    async run({ store }) {
      const add = fullTotals('a', 1, '0.1')
      await put(store, runKeyOf('r'), { parentRunId: 'p' })
      equal(await ancestors(store, runKeyOf('r')), [{ runId: 'p' }])
      await decide(store, runKeyOf('r'), { totalsChanges: changesOf({ descendants: [{ runId: 'p', add }] }) })
      equal(await ancestors(store, runKeyOf('r')), [{ runId: 'p', descendants: add }])
    },
  },
  {
    name: 'a parent in another session or of another tenant is as good as not stored, and the last',
    async run({ store }) {
      await put(store, runKeyOf('elsewhere', { sessionId: 'other' }), { parentRunId: 'grand' })
      await put(store, runKeyOf('foreign', { tenant: 'other' }), { parentRunId: 'grand' })
      await put(store, runKeyOf('grand'))
      for (const parentRunId of ['elsewhere', 'foreign']) {
        equal(await ancestors(store, runKeyOf('new', { parentRunId })), [{ runId: parentRunId }])
        await put(store, runKeyOf(`below-${parentRunId}`), { parentRunId })
        equal(await ancestors(store, runKeyOf(`below-${parentRunId}`)), [{ runId: parentRunId }])
      }
    },
  },
  {
    name: 'a run whose account says top is the last above another, and has none above itself',
    async run({ store }) {
      await putChain(store, ['r', 'low', 'high', 'highest'])
      await decide(store, runKeyOf('high'), { derived: TOP })
      equal(await ancestorIds(store, runKeyOf('r')), ['low', 'high'])
      equal(await ancestors(store, runKeyOf('high')), [])
      equal(await ancestors(store, runKeyOf('high', { parentRunId: 'other' })), [])
      await decide(store, runKeyOf('high'), { derived: QUIET })
      equal(await ancestorIds(store, runKeyOf('r')), ['low', 'high', 'highest'])
    },
  },
  {
    name: 'runs that are above one another are each listed once',
    async run({ store }) {
      await putChain(store, ['r', 'a', 'b', 'c', 'a'])
      await put(store, runKeyOf('a'), { parentRunId: 'b' })
      equal(await ancestorIds(store, runKeyOf('r')), ['a', 'b', 'c'])
      equal(await ancestorIds(store, runKeyOf('new', { parentRunId: 'c' })), ['c', 'a', 'b'])
    },
  },
  {
    name: 'a run that is met again above itself is the last',
    async run({ store }) {
      await putChain(store, ['a', 'b', 'c', 'a'])
      const run = await put(store, runKeyOf('a'), { parentRunId: 'b' })
      equal(await ancestorIds(store, runKeyOf('a')), ['b', 'c', 'a'])
      equal((await ancestors(store, runKeyOf('a'))).at(-1), { runId: 'a', run })
      equal(await ancestorIds(store, runKeyOf('b')), ['c', 'a', 'b'])
    },
  },
  {
    name: 'a run that is its own parent is above itself once, stored or not',
    async run({ store }) {
      equal(await ancestors(store, runKeyOf('r', { parentRunId: 'r' })), [{ runId: 'r' }])
      const run = await put(store, runKeyOf('r'), { parentRunId: 'r' })
      equal(await ancestors(store, runKeyOf('r')), [{ runId: 'r', run }])
    },
  },
  {
    name: 'a run that is not stored yet is met again above itself, where its parent names it',
    async run({ store }) {
      await put(store, runKeyOf('p'), { parentRunId: 'r' })
      equal(await ancestorIds(store, runKeyOf('r', { parentRunId: 'p' })), ['p', 'r'])
    },
  },
  {
    name: 'a removed run is above others like one that was never stored, and what was added below it stays',
    async run({ store, advance }) {
      const add = fullTotals('a', 1, '0.1')
      await putChain(store, ['r', 'p', 'grand'])
      await put(store, runKeyOf('p'), { parentRunId: 'grand', status: 'completed' })
      await decide(store, runKeyOf('r'), { totalsChanges: changesOf({ descendants: [{ runId: 'p', add }] }) })
      await advance(10_000)
      equal(await store.removeRuns({ status: ['completed'], unchangedForMs: 1_000, limit: 10 }), 1)
      equal(await ancestors(store, runKeyOf('r')), [{ runId: 'p', descendants: add }])
    },
  },
]
