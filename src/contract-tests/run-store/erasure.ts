import type { RunStatus } from '../../model/run.ts'
import { noSpend, noTotals } from '../../model/totals.ts'
import type { RemovalQuery } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import {
  adding,
  changesOf,
  fullTotals,
  HOSTILE_NAMES,
  own,
  PENDING,
  QUIET,
  runIds,
  runKeyOf,
  spendOf,
  totalsOf,
} from './run-fixtures.ts'
import { type RunStoreCase, runCases } from './run-harness.ts'

const HOUR = 3_600_000
const OPEN: readonly RunStatus[] = ['queued', 'running', 'waiting']
const ENDED: readonly RunStatus[] = ['completed', 'incomplete', 'failed', 'cancelled', 'expired']
const ALL = [...OPEN, ...ENDED]

function queryOf(more: Partial<RemovalQuery> = {}): RemovalQuery {
  return { status: ['completed'], unchangedForMs: HOUR, limit: 100, ...more }
}

const ADD = fullTotals('u', 1, '0.1')
const OF_USER = { latest: { userId: 'u' } }

export const erasureCases: readonly RunStoreCase[] = runCases([], {
  'removeRuns removes the runs of the given statuses only': async (t) => {
    for (const status of ALL) await t.put(status, { status })
    await t.put('none')
    await t.advance(2 * HOUR)
    equal(await t.store.removeRuns(queryOf({ status: [] })), 0)
    equal(await t.store.removeRuns(queryOf({ status: ['completed', 'expired'] })), 2)
    equal([...(await t.ids())].sort(), [...ALL.filter((one) => !/^(?:completed|expired)$/.test(one)), 'none'].sort())
    equal(await t.store.removeRuns(queryOf({ status: ['running'] })), 2, 'a run without a status is running')
    equal(await t.run('none'), undefined)
  },
  'removeRuns removes runs whose state has not changed for long enough': async (t) => {
    for (const runId of ['old', 'touched', 'accounted', 'changed']) await t.put(runId, { status: 'completed' })
    await t.advance(2 * HOUR)
    await t.decide('touched', { touched: true })
    await t.decide('accounted', { derived: QUIET })
    await t.put('changed', { status: 'completed' })
    await t.put('young', { status: 'completed' })
    equal(await t.store.removeRuns(queryOf()), 3)
    equal(await t.ids(), ['changed', 'young'])
  },
  'removeRuns removes runs unchanged for longer, not for as long': async (t) => {
    const { updatedAt } = await t.put('r', { status: 'completed' })
    await t.advance(HOUR)
    if (!(await t.standsStill())) return
    equal(await t.store.removeRuns(queryOf({ unchangedForMs: t.now() - updatedAt })), 0)
    equal(await t.store.removeRuns(queryOf({ unchangedForMs: t.now() - updatedAt - 1 })), 1)
  },
  'removeRuns removes at most the limit, and returns how many': async (t) => {
    for (const runId of runIds(11)) await t.put(runId, { status: 'completed' })
    await t.advance(2 * HOUR)
    const counts: number[] = []
    for (let times = 0; times < 4; times++) {
      counts.push(await t.store.removeRuns(queryOf({ limit: 4 })))
      equal((await t.ids()).length, 11 - counts.reduce((sum, count) => sum + count, 0))
    }
    equal(counts, [4, 4, 3, 0])
  },
  'removeRuns keeps runs with pending events, and does not count them': async (t) => {
    for (const runId of runIds(10)) await t.put(runId, { status: 'completed' }, { derived: PENDING })
    for (const runId of runIds(5, 'reported')) await t.put(runId, { status: 'completed' })
    await t.advance(2 * HOUR)
    equal(await t.store.removeRuns(queryOf({ limit: 3 })), 3)
    equal(await t.store.removeRuns(queryOf({ limit: 3 })), 2)
    equal(await t.store.removeRuns(queryOf({ limit: 3 })), 0)
    equal([...(await t.ids())].sort(), [...runIds(10)].sort())
    await t.decide('r4', { derived: QUIET })
    equal(await t.store.removeRuns(queryOf({ limit: 3 })), 1)
    equal(await t.run('r4'), undefined)
  },
  'removeRuns removes from one tenant, or from all': async (t) => {
    for (const tenant of ['t', 'T', 't ', '__proto__']) await t.put(runKeyOf('r', { tenant }), { status: 'completed' })
    await t.advance(2 * HOUR)
    equal(await t.store.removeRuns(queryOf({ tenant: 'nobody' })), 0)
    equal(await t.store.removeRuns(queryOf({ tenant: 't' })), 1)
    equal([(await t.run('r'))?.tenant, (await t.run(runKeyOf('r', { tenant: 'T' })))?.tenant], [undefined, 'T'])
    equal(await t.store.removeRuns(queryOf({ limit: 2 })), 2)
    equal(await t.store.removeRuns(queryOf({ limit: 2 })), 1)
    equal(await t.ids(), [])
  },
  'removeRuns keeps the session, its failures and all totals': async (t) => {
    const add = fullTotals('a', 1, '0.1')
    const totalsChanges = changesOf({
      session: add,
      descendants: [{ runId: 'r', add }],
      users: [{ userId: 'u', add: add.spend }],
    })
    const failures = [{ runId: 'r', at: 1, userId: 'u' }]
    await t.put('r', { status: 'completed', latest: { userId: 'u' } }, { totalsChanges, failures })
    const session = await t.session()
    await t.advance(2 * HOUR)
    equal(await t.store.removeRuns(queryOf()), 1)
    equal(await t.session(), session)
    equal(await t.descendants('r'), add)
    equal(await t.spend(), add.spend)
  },
  'a removed run can be created again': async (t) => {
    for (let times = 0; times < 3; times++) await t.put('r', { status: 'completed', tags: ['a'] })
    await t.advance(2 * HOUR)
    equal(await t.store.removeRuns(queryOf()), 1)
    equal((await t.see('r')).run, undefined)
    const run = await t.put('r', { tags: ['b'] })
    equal([run.revision, run.createdAt], [1, run.updatedAt])
    equal(await t.ids(), ['r'])
    equal(await t.ids({ tag: 'a' }), [])
  },
  'erasing a session erases its runs, failures and totals, and no others': async (t) => {
    const totalsChanges = changesOf({ session: ADD, descendants: [{ runId: 'r0', add: ADD }] })
    const failures = [{ runId: 'r0', at: 1 }]
    for (const runId of runIds(5)) await t.put(runId, {}, { totalsChanges, failures })
    await t.put(runKeyOf('left', { sessionId: 'other' }), {}, { totalsChanges, failures })
    const other = await t.session('other')
    equal(await t.store.erase('t', { sessionId: 's' }), 5)
    equal(await t.session(), undefined)
    equal(await t.ids(), ['left'])
    equal(await t.run('r0'), undefined)
    equal(await t.see(runKeyOf('r0', { parentRunId: 'r1' })), { ancestors: [], newAncestors: [{ runId: 'r1' }] })
    equal(await t.session('other'), other)
    equal(await t.descendants(runKeyOf('r0', { sessionId: 'other' })), ADD)
  },
  'an erased session begins empty with its next run': async (t) => {
    const totalsChanges = changesOf({ session: ADD, descendants: [{ runId: 'p', add: ADD }] })
    await t.put('r', {}, { totalsChanges, failures: [{ runId: 'r', at: 1 }] })
    await t.store.erase('t', { sessionId: 's' })
    await t.advance(1_000)
    const run = await t.put('r')
    equal(run.revision, 1)
    const session = await t.session()
    equal([session?.createdAt, session?.totals, session?.failures], [run.createdAt, noTotals(), []])
    equal(await t.descendants('p'), undefined)
  },
  'erase also erases runs with pending events': async (t) => {
    await t.put('a', {}, { derived: PENDING })
    await t.put(runKeyOf('b', { sessionId: 'other' }), OF_USER, { derived: PENDING })
    equal(await t.store.erase('t', { sessionId: 's' }), 1)
    equal(await t.ids({ pending: true }), ['b'])
    equal(await t.store.erase('t', { userId: 'u' }), 1)
    equal(await t.ids({ pending: true }), [])
  },
  'erase returns 0 where there are no runs': async (t) => {
    await t.store.openSession('t', 'empty')
    await t.put('r', { latest: { userId: 'U' } })
    for (const of of [{ sessionId: 'S' }, { userId: 'u' }, { userId: 'nobody' }, { sessionId: 'empty' }])
      equal(await t.store.erase('t', of), 0)
    equal(await t.store.erase('nobody', { sessionId: 's' }), 0)
    equal(await t.session('empty'), undefined)
    equal(await t.ids(), ['r'])
  },
  'erasing a session keeps the spend of users': async (t) => {
    await t.put('r', OF_USER, adding({ users: [{ userId: 'u', add: ADD.spend }] }))
    await t.store.erase('t', { sessionId: 's' })
    equal(await t.spend(), ADD.spend)
  },
  'erasing a user erases their runs in every session, and keeps child runs of others': async (t) => {
    await t.put('parent', OF_USER)
    await t.put('child', { parentRunId: 'parent' })
    await t.put(runKeyOf('theirs', { sessionId: 'other' }), OF_USER)
    await t.put('another', { latest: { userId: 'U' } })
    await t.put('before', OF_USER)
    await t.put('before', { latest: { userId: 'v' } })
    equal(await t.store.erase('t', { userId: 'u' }), 2)
    equal([...(await t.ids())].sort(), ['another', 'before', 'child'])
    equal(await t.run('parent'), undefined)
    equal(await t.ancestors('child'), [{ runId: 'parent' }])
    equal(await t.ids({ userId: 'u' }), [])
  },
  'erasing a user erases their spend only': async (t) => {
    const spend = spendOf({ runs: 2, cost: { USD: '0.3' } })
    const users = [
      { userId: 'u', add: spend },
      { userId: 'u', add: spend, at: t.now() - 5 * 86_400_000 },
      { userId: 'U', add: spend },
    ]
    await t.put('r', {}, adding({ users }))
    equal(await t.store.erase('t', { userId: 'u' }), 0)
    equal(await t.spend(), noSpend())
    equal(await t.spend('U'), spend)
    await t.decide('r', adding({ users: [{ userId: 'u', add: spend }] }))
    equal(await t.spend(), spend)
  },
  'erasing a user erases their part of the totals below runs': async (t) => {
    const users = { ...own('v', ADD.spend), ...own('__proto__', ADD.spend) }
    const { agent: _, ...add } = ADD
    const kept = totalsOf({ ...add, users })
    const descendants = [{ runId: 'p', add: totalsOf({ ...kept, users: { ...users, ...own('u', ADD.spend) } }) }]
    for (const sessionId of ['s', 'other'])
      await t.put(runKeyOf(`r-${sessionId}`, { sessionId }), { parentRunId: 'p' }, adding({ descendants }))
    await t.store.erase('t', { userId: 'u' })
    for (const sessionId of ['s', 'other']) {
      equal(await t.descendants(runKeyOf('p', { sessionId })), kept)
      equal(await t.ancestors(runKeyOf(`r-${sessionId}`, { sessionId })), [{ runId: 'p', descendants: kept }])
    }
    const again = [{ runId: 'p', add: totalsOf({ users: own('u', ADD.spend) }) }]
    await t.decide('r-s', adding({ descendants: again }))
    equal((await t.see('p')).descendants?.users, { ...users, ...own('u', ADD.spend) })
  },
  'erasing a user erases their failures in every session': async (t) => {
    const failures = [
      { runId: 'left', at: 9, userId: 'v', error: { type: 'x' } },
      { runId: 'gone', at: 8, userId: 'u' },
      { runId: 'theirs', at: 7, error: { type: 'y', message: 'of them' } },
      { runId: 'nobodys', at: 6, error: { type: 'z' } },
      { runId: 'case', at: 5, userId: 'U' },
    ]
    await t.put('theirs', OF_USER, { failures })
    await t.put('nobodys', {})
    await t.put(runKeyOf('x', { sessionId: 'other' }), {}, { failures: failures.slice(0, 2) })
    equal(await t.store.erase('t', { userId: 'u' }), 1)
    equal((await t.session())?.failures, [failures[0], failures[3], failures[4]])
    equal((await t.session('other'))?.failures, [failures[0]])
  },
  'erasing a user keeps sessions and totals without names': async (t) => {
    await t.put('r', OF_USER, adding({ session: totalsOf({ ...ADD, users: {} }) }))
    const session = await t.session()
    await t.store.erase('t', { userId: 'u' })
    equal(await t.session(), session)
  },
  'erasing a user with any name erases nobody else': async (t) => {
    const users = HOSTILE_NAMES.map((userId) => ({ userId, add: ADD.spend }))
    const descendants = HOSTILE_NAMES.map((name) => ({ runId: 'p', add: totalsOf({ users: own(name, ADD.spend) }) }))
    const failures = HOSTILE_NAMES.map((userId, at) => ({ runId: `failed${at}`, at, userId }))
    await t.put('p', {}, { totalsChanges: changesOf({ users, descendants }), failures, derived: QUIET })
    for (const [at, userId] of HOSTILE_NAMES.entries()) await t.put(`r${at}`, { latest: { userId } })
    for (const [at, userId] of HOSTILE_NAMES.entries()) {
      const left = HOSTILE_NAMES.slice(at + 1)
      equal(await t.store.erase('t', { userId }), 1, `the runs of ${JSON.stringify(userId)}`)
      equal((await t.ids()).length, left.length + 1)
      equal(Object.keys((await t.see('p')).descendants?.users ?? {}).sort(), [...left].sort())
      equal((await t.session())?.failures, failures.slice(at + 1))
      for (const [index, name] of HOSTILE_NAMES.entries())
        equal((await t.spend(name)).runs, index <= at ? 0 : ADD.spend.runs)
    }
  },
})
