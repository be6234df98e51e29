import { noSpend, noTotals } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import { listIds, see } from './reading.ts'
import { decide, HOSTILE_NAMES, PENDING, put, QUIET, type RunStoreCase, runIds, runKeyOf } from './run-fixtures.ts'
import { changesOf, fullTotals, own, spendOf, totalsOf } from './totals-fixtures.ts'

const ADD = fullTotals('u', 1, '0.1')
const OF_USER = { latest: { userId: 'u' } }

/** What is gone with a session, and with a user. */
export const ERASE_CASES: readonly RunStoreCase[] = [
  {
    name: 'a session is erased with its runs, its failures and its sums, and others are left',
    async run({ store }) {
      const totalsChanges = changesOf({ session: ADD, descendants: [{ runId: 'r0', add: ADD }] })
      const failures = [{ runId: 'r0', at: 1 }]
      for (const runId of runIds(5)) await put(store, runKeyOf(runId), {}, { totalsChanges, failures })
      await put(store, runKeyOf('left', { sessionId: 'other' }), {}, { totalsChanges, failures })
      const other = await store.findSession('t', 'other')
      equal(await store.erase('t', { sessionId: 's' }), 5)
      equal(await store.findSession('t', 's'), undefined)
      equal(await listIds(store), ['left'])
      equal(await store.findRun('t', 'r0'), undefined)
      equal(await see(store, runKeyOf('r0', { parentRunId: 'r1' })), { ancestors: [{ runId: 'r1' }] })
      equal(await store.findSession('t', 'other'), other)
      equal((await see(store, runKeyOf('r0', { sessionId: 'other' }))).descendants, ADD)
    },
  },
  {
    name: 'a session that was erased begins anew with its next run',
    async run({ store, advance }) {
      const totalsChanges = changesOf({ session: ADD, descendants: [{ runId: 'p', add: ADD }] })
      await put(store, runKeyOf('r'), {}, { totalsChanges, failures: [{ runId: 'r', at: 1 }] })
      await store.erase('t', { sessionId: 's' })
      await advance(1_000)
      const run = await put(store, runKeyOf('r'))
      equal(run.revision, 1)
      const session = await store.findSession('t', 's')
      equal([session?.createdAt, session?.totals, session?.failures], [run.createdAt, noTotals(), []])
      equal((await see(store, runKeyOf('p'))).descendants, undefined)
    },
  },
  {
    name: 'what is untold goes with its session, and with its user',
    async run({ store }) {
      await put(store, runKeyOf('a'), {}, { derived: PENDING })
      await put(store, runKeyOf('b', { sessionId: 'other' }), OF_USER, { derived: PENDING })
      equal(await store.erase('t', { sessionId: 's' }), 1)
      equal(await listIds(store, { pending: true }), ['b'])
      equal(await store.erase('t', { userId: 'u' }), 1)
      equal(await listIds(store, { pending: true }), [])
    },
  },
  {
    name: 'an erasure of what is not there, or has no runs, tells of none',
    async run({ store }) {
      await store.openSession('t', 'empty')
      await put(store, runKeyOf('r'), { latest: { userId: 'U' } })
      for (const of of [{ sessionId: 'S' }, { userId: 'u' }, { userId: 'nobody' }, { sessionId: 'empty' }])
        equal(await store.erase('t', of), 0)
      equal(await store.erase('nobody', { sessionId: 's' }), 0)
      equal(await store.findSession('t', 'empty'), undefined)
      equal(await listIds(store), ['r'])
    },
  },
  {
    name: 'what users spent stays when a session is erased',
    async run({ store }) {
      await put(store, runKeyOf('r'), OF_USER, {
        totalsChanges: changesOf({ users: [{ userId: 'u', add: ADD.spend }] }),
      })
      await store.erase('t', { sessionId: 's' })
      equal(await store.findSpend('t', 'u', 0), ADD.spend)
    },
  },
  {
    name: 'a user is erased with the runs that name them in every session, and runs below these stay',
    async run({ store }) {
      await put(store, runKeyOf('parent'), OF_USER)
      await put(store, runKeyOf('child'), { parentRunId: 'parent' })
      await put(store, runKeyOf('theirs', { sessionId: 'other' }), OF_USER)
      await put(store, runKeyOf('another'), { latest: { userId: 'U' } })
      await put(store, runKeyOf('before'), OF_USER)
      await put(store, runKeyOf('before'), { latest: { userId: 'v' } })
      equal(await store.erase('t', { userId: 'u' }), 2)
      equal([...(await listIds(store))].sort(), ['another', 'before', 'child'])
      equal(await store.findRun('t', 'parent'), undefined)
      equal((await see(store, runKeyOf('child'))).ancestors, [{ runId: 'parent' }])
      equal(await listIds(store, { userId: 'u' }), [])
    },
  },
  {
    name: 'what a user spent is gone with them, and what others spent stays',
    async run({ store, now }) {
      const spend = spendOf({ runs: 2, cost: { USD: '0.3' } })
      const users = [
        { userId: 'u', add: spend },
        { userId: 'u', add: spend, at: now() - 5 * 86_400_000 },
        { userId: 'U', add: spend },
      ]
      await put(store, runKeyOf('r'), {}, { totalsChanges: changesOf({ users }) })
      equal(await store.erase('t', { userId: 'u' }), 0)
      equal(await store.findSpend('t', 'u', 0), noSpend())
      equal(await store.findSpend('t', 'U', 0), spend)
      await decide(store, runKeyOf('r'), { totalsChanges: changesOf({ users: [{ userId: 'u', add: spend }] }) })
      equal(await store.findSpend('t', 'u', 0), spend)
    },
  },
  {
    name: 'what a user spent below runs is gone with them in every session, and the rest of these sums stays',
    async run({ store }) {
      const users = { ...own('v', ADD.spend), ...own('__proto__', ADD.spend) }
      const kept = totalsOf({ ...ADD, users })
      const descendants = [{ runId: 'p', add: totalsOf({ ...kept, users: { ...users, ...own('u', ADD.spend) } }) }]
      for (const sessionId of ['s', 'other'])
        await put(
          store,
          runKeyOf(`r-${sessionId}`, { sessionId }),
          { parentRunId: 'p' },
          { totalsChanges: changesOf({ descendants }) },
        )
      await store.erase('t', { userId: 'u' })
      for (const sessionId of ['s', 'other']) {
        equal((await see(store, runKeyOf('p', { sessionId }))).descendants, kept)
        equal((await see(store, runKeyOf(`r-${sessionId}`, { sessionId }))).ancestors, [
          { runId: 'p', descendants: kept },
        ])
      }
      const again = [{ runId: 'p', add: totalsOf({ users: own('u', ADD.spend) }) }]
      await decide(store, runKeyOf('r-s'), { totalsChanges: changesOf({ descendants: again }) })
      equal((await see(store, runKeyOf('p'))).descendants?.users, { ...users, ...own('u', ADD.spend) })
    },
  },
  {
    name: 'what sessions say of failures of a user is gone with them, be the runs stored or not',
    async run({ store }) {
      const failures = [
        { runId: 'left', at: 9, userId: 'v', error: { type: 'x' } },
        { runId: 'gone', at: 8, userId: 'u' },
        { runId: 'theirs', at: 7, error: { type: 'y', message: 'of them' } },
        { runId: 'nobodys', at: 6, error: { type: 'z' } },
        { runId: 'case', at: 5, userId: 'U' },
      ]
      await put(store, runKeyOf('theirs'), OF_USER, { failures })
      await put(store, runKeyOf('nobodys'), {})
      await put(store, runKeyOf('x', { sessionId: 'other' }), {}, { failures: failures.slice(0, 2) })
      equal(await store.erase('t', { userId: 'u' }), 1)
      equal((await store.findSession('t', 's'))?.failures, [failures[0], failures[3], failures[4]])
      equal((await store.findSession('t', 'other'))?.failures, [failures[0]])
    },
  },
  {
    name: 'what names nobody stays when a user is erased: sessions and their tallies',
    async run({ store }) {
      await put(store, runKeyOf('r'), OF_USER, {
        totalsChanges: changesOf({ session: totalsOf({ ...ADD, users: {} }) }),
      })
      const session = await store.findSession('t', 's')
      await store.erase('t', { userId: 'u' })
      equal(await store.findSession('t', 's'), session)
    },
  },
  {
    name: 'a user is erased whatever their name is, and nobody else with them',
    async run({ store }) {
      const users = HOSTILE_NAMES.map((userId) => ({ userId, add: ADD.spend }))
      const descendants = HOSTILE_NAMES.map((name) => ({ runId: 'p', add: totalsOf({ users: own(name, ADD.spend) }) }))
      const failures = HOSTILE_NAMES.map((userId, at) => ({ runId: `failed${at}`, at, userId }))
      await put(
        store,
        runKeyOf('p'),
        {},
        { totalsChanges: changesOf({ users, descendants }), failures, derived: QUIET },
      )
      for (const [at, userId] of HOSTILE_NAMES.entries()) await put(store, runKeyOf(`r${at}`), { latest: { userId } })
      for (const [at, userId] of HOSTILE_NAMES.entries()) {
        const left = HOSTILE_NAMES.slice(at + 1)
        equal(await store.erase('t', { userId }), 1, `the runs of ${JSON.stringify(userId)}`)
        equal((await listIds(store)).length, left.length + 1)
        equal(Object.keys((await see(store, runKeyOf('p'))).descendants?.users ?? {}).sort(), [...left].sort())
        equal((await store.findSession('t', 's'))?.failures, failures.slice(at + 1))
        for (const [index, name] of HOSTILE_NAMES.entries())
          equal((await store.findSpend('t', name, 0)).runs, index <= at ? 0 : ADD.spend.runs)
      }
    },
  },
]
