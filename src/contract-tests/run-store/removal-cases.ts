import type { RunStatus } from '../../model/run.ts'
import type { RemovalQuery } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { listIds, see } from './reading.ts'
import { decide, PENDING, put, QUIET, type RunStoreCase, runIds, runKeyOf } from './run-fixtures.ts'
import { standsStill } from './store-time.ts'
import { changesOf, fullTotals } from './totals-fixtures.ts'

const HOUR = 3_600_000
const ALL: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'expired',
]

function queryOf(more: Partial<RemovalQuery> = {}): RemovalQuery {
  return { status: ['completed'], unchangedForMs: HOUR, limit: 100, ...more }
}

/** Which runs a removal takes, and what it leaves. */
export const REMOVAL_CASES: readonly RunStoreCase[] = [
  {
    name: 'a removal takes the runs of the statuses that are said, and no others',
    async run({ store, advance }) {
      for (const status of ALL) await put(store, runKeyOf(status), { status })
      await put(store, runKeyOf('none'))
      await advance(2 * HOUR)
      equal(await store.removeRuns(queryOf({ status: [] })), 0)
      equal(await store.removeRuns(queryOf({ status: ['completed', 'expired'] })), 2)
      equal(
        [...(await listIds(store))].sort(),
        [...ALL.filter((one) => !/^(?:completed|expired)$/.test(one)), 'none'].sort(),
      )
      equal(await store.removeRuns(queryOf({ status: ['running'] })), 2, 'a run without a status is running')
      equal(await store.findRun('t', 'none'), undefined)
    },
  },
  {
    name: 'a removal takes what last changed long enough ago, whenever it was last heard of',
    async run({ store, advance }) {
      for (const runId of ['old', 'touched', 'accounted', 'changed'])
        await put(store, runKeyOf(runId), { status: 'completed' })
      await advance(2 * HOUR)
      await decide(store, runKeyOf('touched'), { touched: true })
      await decide(store, runKeyOf('accounted'), { derived: QUIET })
      await put(store, runKeyOf('changed'), { status: 'completed' })
      await put(store, runKeyOf('young'), { status: 'completed' })
      equal(await store.removeRuns(queryOf()), 3)
      equal(await listIds(store), ['changed', 'young'])
    },
  },
  {
    name: 'a removal takes what last changed more than so many milliseconds ago, not just as many',
    async run(trial) {
      const { store, now, advance } = trial
      const { updatedAt } = await put(store, runKeyOf('r'), { status: 'completed' })
      await advance(HOUR)
      if (!(await standsStill(trial))) return
      equal(await store.removeRuns(queryOf({ unchangedForMs: now() - updatedAt })), 0)
      equal(await store.removeRuns(queryOf({ unchangedForMs: now() - updatedAt - 1 })), 1)
    },
  },
  {
    name: 'a removal takes at most as many as it may, and says how many, until there are no more',
    async run({ store, advance }) {
      for (const runId of runIds(11)) await put(store, runKeyOf(runId), { status: 'completed' })
      await advance(2 * HOUR)
      const counts: number[] = []
      for (let times = 0; times < 4; times++) {
        counts.push(await store.removeRuns(queryOf({ limit: 4 })))
        equal((await listIds(store)).length, 11 - counts.reduce((sum, count) => sum + count, 0))
      }
      equal(counts, [4, 4, 3, 0])
    },
  },
  {
    name: 'a removal spares what is untold, and that does not count towards its limit',
    async run({ store, advance }) {
      for (const runId of runIds(10)) await put(store, runKeyOf(runId), { status: 'completed' }, { derived: PENDING })
      for (const runId of runIds(5, 'reported')) await put(store, runKeyOf(runId), { status: 'completed' })
      await advance(2 * HOUR)
      equal(await store.removeRuns(queryOf({ limit: 3 })), 3)
      equal(await store.removeRuns(queryOf({ limit: 3 })), 2)
      equal(await store.removeRuns(queryOf({ limit: 3 })), 0)
      equal([...(await listIds(store))].sort(), [...runIds(10)].sort())
      await decide(store, runKeyOf('r4'), { derived: QUIET })
      equal(await store.removeRuns(queryOf({ limit: 3 })), 1)
      equal(await store.findRun('t', 'r4'), undefined)
    },
  },
  {
    name: 'a removal for a tenant leaves the runs of others, and one for all takes those of each',
    async run({ store, advance }) {
      for (const tenant of ['t', 'T', 't ', '__proto__'])
        await put(store, runKeyOf('r', { tenant }), { status: 'completed' })
      await advance(2 * HOUR)
      equal(await store.removeRuns(queryOf({ tenant: 'nobody' })), 0)
      equal(await store.removeRuns(queryOf({ tenant: 't' })), 1)
      equal([(await store.findRun('t', 'r'))?.tenant, (await store.findRun('T', 'r'))?.tenant], [undefined, 'T'])
      equal(await store.removeRuns(queryOf({ limit: 2 })), 2)
      equal(await store.removeRuns(queryOf({ limit: 2 })), 1)
      equal(await listIds(store), [])
    },
  },
  {
    name: 'a removal leaves the session, its failures and every sum as they are',
    async run({ store, advance }) {
      const add = fullTotals('a', 1, '0.1')
      const totalsChanges = changesOf({
        session: add,
        descendants: [{ runId: 'r', add }],
        users: [{ userId: 'u', add: add.spend }],
      })
      const failures = [{ runId: 'r', at: 1, userId: 'u' }]
      await put(store, runKeyOf('r'), { status: 'completed', latest: { userId: 'u' } }, { totalsChanges, failures })
      const session = await store.findSession('t', 's')
      await advance(2 * HOUR)
      equal(await store.removeRuns(queryOf()), 1)
      equal(await store.findSession('t', 's'), session)
      equal((await see(store, runKeyOf('r'))).descendants, add)
      equal(await store.findSpend('t', 'u', 0), add.spend)
    },
  },
  {
    name: 'a run that was removed can be made anew',
    async run({ store, advance }) {
      for (let times = 0; times < 3; times++) await put(store, runKeyOf('r'), { status: 'completed', tags: ['a'] })
      await advance(2 * HOUR)
      equal(await store.removeRuns(queryOf()), 1)
      equal((await see(store, runKeyOf('r'))).run, undefined)
      const run = await put(store, runKeyOf('r', { sessionId: 'other' }), { tags: ['b'] })
      equal([run.revision, run.state.sessionId, run.createdAt], [1, 'other', run.updatedAt])
      equal(await listIds(store), ['r'])
      equal(await listIds(store, { tag: 'a' }), [])
    },
  },
]
