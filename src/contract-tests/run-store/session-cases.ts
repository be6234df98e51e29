import { noTotals } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import { decide, PENDING, put, type RunStoreCase, runKeyOf, stateOf } from './run-fixtures.ts'
import { happened, timedRuns } from './store-time.ts'
import { changesOf, fullTotals } from './totals-fixtures.ts'

/** Runs and sessions in the store's time, and sessions that are opened and found. */
export const SESSION_CASES: readonly RunStoreCase[] = [
  {
    name: 'a run and its session begin by the clock of the store',
    async run(trial) {
      const { store, advance } = trial
      await advance(3 * 86_400_000)
      const { value: run, when } = await timedRuns(trial, () => put(store, runKeyOf('r')))
      for (const name of ['createdAt', 'updatedAt', 'lastSeenAt'] as const) happened(run[name], when, name)
      const session = await store.findSession('t', 's')
      for (const name of ['createdAt', 'updatedAt'] as const) happened(session?.[name], when, `the session's ${name}`)
    },
  },
  {
    name: 'a session has changed when the state of one of its runs has, and not by anything else',
    async run(trial) {
      const { store, advance } = trial
      await put(store, runKeyOf('a'))
      await put(store, runKeyOf('b'))
      const before = await store.findSession('t', 's')
      await advance(1_000)
      await decide(store, runKeyOf('a'), { derived: PENDING, touched: true, failures: [], totalsChanges: changesOf() })
      await store.openSession('t', 's')
      await put(store, runKeyOf('c', { sessionId: 'other' }))
      equal(await store.findSession('t', 's'), before)
      const { when } = await timedRuns(trial, () => put(store, runKeyOf('b')))
      const after = await store.findSession('t', 's')
      equal(after?.createdAt, before?.createdAt)
      happened(after?.updatedAt, when, "the session's last change")
    },
  },
  {
    name: 'a session that is opened is there, and empty',
    async run(trial) {
      const { value: opened, when } = await timedRuns(trial, () => trial.store.openSession('t', 's'))
      happened(opened.createdAt, when, 'the beginning of the session')
      const { createdAt } = opened
      const empty = { tenant: 't', sessionId: 's', createdAt, updatedAt: createdAt, totals: noTotals(), failures: [] }
      equal(opened, empty)
      equal(await trial.store.findSession('t', 's'), empty)
    },
  },
  {
    name: 'opening a session again gives the one that is there, and changes nothing',
    async run({ store, advance }) {
      const opened = await store.openSession('t', 's')
      await advance(1_000)
      equal(await store.openSession('t', 's'), opened)
      await put(
        store,
        runKeyOf('r'),
        {},
        { totalsChanges: changesOf({ session: fullTotals('a', 1, '0.1') }), failures: [FAILURE] },
      )
      const found = await store.findSession('t', 's')
      equal(found?.createdAt, opened.createdAt)
      await advance(1_000)
      equal(await store.openSession('t', 's'), found)
      equal(await store.findSession('t', 's'), found)
    },
  },
  {
    name: 'a session that nobody opened, and that had no run, is not found',
    async run({ store }) {
      await store.openSession('t', 's')
      for (const [tenant, sessionId] of [
        ['t', 'S'],
        ['t', ''],
        ['T', 's'],
        ['s', 't'],
      ] as const)
        equal(await store.findSession(tenant, sessionId), undefined)
    },
  },
  {
    name: 'sessions are told apart, and each has the runs and sums of its own',
    async run({ store }) {
      const names = ['s', 'S', '__proto__', 'constructor', 's.', 's:', `${'x'.repeat(199)}y`, `${'x'.repeat(199)}z`]
      for (const [at, sessionId] of names.entries()) {
        const totalsChanges = changesOf({ session: fullTotals('a', at + 1, '0.1') })
        await put(store, runKeyOf(`r${at}`, { sessionId }), {}, { totalsChanges, failures: [{ runId: `r${at}`, at }] })
      }
      for (const [at, sessionId] of names.entries()) {
        const session = await store.findSession('t', sessionId)
        equal(session?.sessionId, sessionId)
        equal(session?.totals, fullTotals('a', at + 1, '0.1'))
        equal(session?.failures, [{ runId: `r${at}`, at }])
        const { items } = await store.listRuns({ tenant: 't', sessionId, limit: 9 })
        equal(
          items.map(({ state }) => state),
          [stateOf(runKeyOf(`r${at}`, { sessionId }))],
        )
      }
    },
  },
]

const FAILURE = { runId: 'r', at: 7, error: { type: 'timeout', retryable: true } }
