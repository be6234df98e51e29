import type { StoredRun } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { listIds, readAll, runIdsOf } from './reading.ts'
import { decide, put, putEach, QUIET, type RunStoreCase, runIds, runKeyOf } from './run-fixtures.ts'

const ORDERS = ['oldest', 'newest'] as const

/** How a list is read page by page. */
export const PAGING_CASES: readonly RunStoreCase[] = [
  {
    name: 'the pages of a list, however long they are, have each run once and in order',
    async run(trial) {
      const ids = runIds(13)
      await putEach(
        trial,
        ids.map((runId) => runKeyOf(runId)),
      )
      for (const limit of [1, 2, 3, 12, 13, 14, 1_000]) {
        equal(await listIds(trial.store, { limit }), ids)
        equal(await listIds(trial.store, { limit, first: 'newest', tenant: 't' }), ids.toReversed())
      }
    },
  },
  {
    name: 'a list of what fits only here and there has each of it once',
    async run(trial) {
      const ids = runIds(30)
      for (const [at, runId] of ids.entries()) {
        await trial.advance(1_000)
        await put(trial.store, runKeyOf(runId), { tags: at % 7 === 2 ? ['a'] : [] })
      }
      const fitting = ids.filter((_, at) => at % 7 === 2)
      for (const limit of [1, 2, 3, 4]) {
        equal(await listIds(trial.store, { tag: 'a', limit }), fitting)
        equal(await listIds(trial.store, { tag: 'a', limit, first: 'newest' }), fitting.toReversed())
      }
    },
  },
  {
    name: 'runs that were created in the same millisecond are each listed once',
    async run({ store }) {
      const ids = runIds(20)
      for (const runId of ids) await put(store, runKeyOf(runId))
      for (const first of ORDERS)
        for (const limit of [1, 3, 20]) {
          const listed = await listIds(store, { first, limit })
          equal([...listed].sort(), [...ids].sort())
        }
    },
  },
  {
    name: 'a list misses none and gives none twice, while runs are added, change and are removed between its pages',
    async run(trial) {
      for (const first of ORDERS) {
        const sessionId = first
        const ids = runIds(24, first)
        await putEach(
          trial,
          ids.map((runId) => runKeyOf(runId, { sessionId })),
        )
        let pages = 0
        const listed = await readAll(trial.store, { sessionId, first, limit: 3 }, async (read) => {
          pages += 1
          for (const { state } of read.slice(1))
            await put(trial.store, runKeyOf(state.runId, { sessionId }), { status: 'completed' })
          await trial.advance(5_000)
          await trial.store.removeRuns({ status: ['completed'], unchangedForMs: 1_000, limit: 10 })
          await put(trial.store, runKeyOf(`added-${first}${pages}`, { sessionId }), { status: 'waiting' })
        })
        const old = runIdsOf(listed).filter((runId) => !runId.startsWith('added'))
        equal(old, first === 'oldest' ? ids : ids.toReversed())
        equal(new Set(runIdsOf(listed)).size, listed.length, 'none is given twice')
      }
    },
  },
  {
    name: 'a list goes on after a run that was removed meanwhile, and after its session was erased',
    async run(trial) {
      const { store } = trial
      for (const first of ORDERS) {
        const keys = runIds(6, first).map((runId) => runKeyOf(runId, { sessionId: runId }))
        await putEach(trial, keys)
        const listed = await readAll(store, { limit: 1, first }, async ([read]) => {
          if (read) await store.erase('t', { sessionId: read.state.sessionId })
        })
        const ids = keys.map(({ runId }) => runId)
        equal(runIdsOf(listed), first === 'oldest' ? ids : ids.toReversed())
        for (const sessionId of ids) await store.erase('t', { sessionId })
      }
    },
  },
  {
    name: 'a list of what is then changed so that it no longer fits has all of it',
    async run(trial) {
      const { store, advance } = trial
      const ids = runIds(11)
      await putEach(
        trial,
        ids.map((runId) => runKeyOf(runId)),
        { status: 'running' },
      )
      const end = async (read: readonly StoredRun[]): Promise<void> => {
        await advance(1_000)
        for (const { state } of read) await put(store, runKeyOf(state.runId), { status: 'expired' })
      }
      equal(runIdsOf(await readAll(store, { status: ['running'], limit: 2 }, end)), ids)
      for (const runId of ids) await decide(store, runKeyOf(runId), { derived: { ended: [], pending: ['expired'] } })
      const tell = async (read: readonly StoredRun[]): Promise<void> => {
        for (const { state } of read) await decide(store, runKeyOf(state.runId), { derived: QUIET })
      }
      equal(runIdsOf(await readAll(store, { pending: true, limit: 2 }, tell)), ids)
    },
  },
  {
    name: 'a cursor that no list gave does no harm',
    async run({ store }) {
      await put(store, runKeyOf('r'))
      const texts = [
        '',
        ' ',
        'x',
        '-1',
        '0',
        '1.5',
        '1e9',
        '999999999999999',
        '99999999999999999999',
        'NaN',
        '__proto__',
      ]
      const odd = [
        "' OR 1=1 --",
        '\u{1f600}',
        '{"at":1}',
        '[]',
        'null',
        'e30=',
        '1:2:3',
        '1,2',
        '%00',
        'x'.repeat(10_000),
      ]
      for (const cursor of [...texts, ...odd])
        for (const first of ORDERS) {
          const { items } = await store.listRuns({ tenant: 't', cursor, first, limit: 5 })
          ok(items.length <= 1 && items.every(({ state }) => state.runId === 'r'), `the cursor ${cursor} does no harm`)
        }
    },
  },
  {
    name: 'a cursor of one list shows in another nothing that this one would not have',
    async run(trial) {
      const { store } = trial
      await putEach(
        trial,
        runIds(3, 'mine').map((runId) => runKeyOf(runId)),
      )
      await putEach(
        trial,
        runIds(3, 'theirs').map((runId) => runKeyOf(runId, { tenant: 'other' })),
      )
      for (const first of ORDERS) {
        const { nextCursor } = await store.listRuns({ tenant: 'other', limit: 1, first })
        ok(nextCursor, 'a list of three has a next page after one')
        for (const back of ORDERS) {
          const items = await readAll(store, { tenant: 't', limit: 2, cursor: nextCursor, first: back })
          ok(
            items.every(({ tenant }) => tenant === 't'),
            'a cursor does not lead to another tenant',
          )
        }
      }
    },
  },
]
