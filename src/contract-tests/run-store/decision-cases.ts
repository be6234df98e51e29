import { noTotals } from '../../model/totals.ts'
import type { MergeDecision, RunKey } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { see } from './reading.ts'
import { decide, PENDING, put, QUIET, type RunStoreCase, type RunTrial, runKeyOf, stateOf } from './run-fixtures.ts'
import { happened, timedRuns } from './store-time.ts'
import { countRuns, fullTotals, sumOf } from './totals-fixtures.ts'

const FAILURES = [{ runId: 'other', at: 5, userId: 'u', error: { type: 'timeout', message: 'too late' } }]
const TALLIES = countRuns(3, 'p', 'u')

/** What each member of a decision may be, one bit of a number for each. */
function decisionOf(bits: number, key: RunKey): MergeDecision<number> {
  return {
    result: bits,
    ...(bits & 1 && { state: stateOf(key, { status: 'failed', counts: { steps: bits } }) }),
    ...(bits & 2 && { derived: PENDING }),
    ...(bits & 4 && { touched: true }),
    ...(bits & 8 && { totalsChanges: TALLIES }),
    ...(bits & 16 && { failures: FAILURES }),
  }
}

const ALL_DECISIONS = Array.from({ length: 32 }, (_, bits) => bits)

async function decideOnStored(trial: RunTrial, bits: number): Promise<void> {
  const { store, advance } = trial
  const key = runKeyOf(`r${bits}`, { sessionId: `s${bits}` })
  const before = await put(store, key, { status: 'running' })
  const { updatedAt = 0 } = (await store.findSession('t', key.sessionId)) ?? {}
  await advance(1_000)
  const decision = decisionOf(bits, key)
  const { value, when } = await timedRuns(trial, () => store.mergeRun(key, () => decision))
  const { run } = value
  ok(run, 'a merge gives the run that is stored')
  const what = `a decision of ${Object.keys(decision).join(', ')}`
  equal(run.state, decision.state ?? before.state, what)
  equal(run.derived, decision.derived ?? before.derived, what)
  equal([run.createdAt, run.revision], [before.createdAt, decision.state ? 2 : 1], what)
  if (decision.state) happened(run.updatedAt, when, `the last change, after ${what},`)
  else equal(run.updatedAt, before.updatedAt, what)
  if (decision.touched) happened(run.lastSeenAt, when, `the last sign of life, after ${what},`)
  else equal(run.lastSeenAt, before.lastSeenAt, what)
  equal(await store.findRun('t', key.runId), run, what)
  const session = await store.findSession('t', key.sessionId)
  if (decision.state) happened(session?.updatedAt, when, `the last change of the session, after ${what},`)
  else equal(session?.updatedAt, updatedAt, what)
  equal(session?.totals, decision.totalsChanges?.session ?? noTotals(), what)
  equal(session?.failures, decision.failures ?? [], what)
  equal(
    (await see(store, runKeyOf('p', { sessionId: key.sessionId }))).descendants,
    decision.totalsChanges?.descendants[0]?.add,
    what,
  )
}

async function decideOnNothing(trial: RunTrial, bits: number): Promise<void> {
  const { store } = trial
  const key = runKeyOf(`r${bits}`, { sessionId: `s${bits}` })
  // A run that is created has an account.
  const decision = { ...decisionOf(bits, key), ...(bits & 1 && { derived: PENDING }) }
  const { value, when } = await timedRuns(trial, () => store.mergeRun(key, () => decision))
  const what = `a decision of ${Object.keys(decision).join(', ')}`
  const run = await store.findRun('t', key.runId)
  equal(value, { result: bits, run }, what)
  const session = await store.findSession('t', key.sessionId)
  const spend = await store.findSpend('t', 'u', 0)
  const snapshot = await see(store, runKeyOf('p', { sessionId: key.sessionId }))
  if (!decision.state) {
    equal([run, session, spend.runs, snapshot.descendants], [undefined, undefined, 0, undefined], what)
    return
  }
  equal([run?.tenant, run?.state, run?.derived, run?.revision], ['t', decision.state, PENDING, 1], what)
  happened(run?.createdAt, when, `the creation, after ${what},`)
  equal([run?.updatedAt, run?.lastSeenAt], [run?.createdAt, run?.createdAt], what)
  happened(session?.createdAt, when, `the beginning of the session, after ${what},`)
  equal([session?.tenant, session?.sessionId], ['t', key.sessionId], what)
  equal(session?.totals, decision.totalsChanges?.session ?? noTotals(), what)
  equal(session?.failures, decision.failures ?? [], what)
  equal(snapshot.descendants, decision.totalsChanges?.descendants[0]?.add, what)
  equal(spend.runs, decision.totalsChanges ? 3 : 0, what)
  await store.erase('t', { userId: 'u' })
}

/** What becomes of what a merge decides. */
export const DECISION_CASES: readonly RunStoreCase[] = [
  {
    name: 'of a stored run, each decision changes what it says and leaves the rest as it is',
    async run(trial) {
      for (const bits of ALL_DECISIONS) await decideOnStored(trial, bits)
    },
  },
  {
    name: 'where nothing is stored, a decision makes the run and the session if it has a state, and else nothing',
    async run(trial) {
      for (const bits of ALL_DECISIONS) await decideOnNothing(trial, bits)
    },
  },
  {
    name: 'members of a decision that are undefined are as good as absent',
    async run({ store }) {
      const run = await put(store, runKeyOf('r'), {}, { failures: FAILURES })
      const nothing = {
        state: undefined,
        derived: undefined,
        totalsChanges: undefined,
        failures: undefined,
        touched: false,
      }
      equal(await decide(store, runKeyOf('r'), nothing), run)
      equal((await store.findSession('t', 's'))?.failures, FAILURES)
    },
  },
  {
    name: 'each state that is decided of is one more revision, also one that is the same again',
    async run({ store }) {
      for (const revision of [1, 2, 3, 4, 5]) equal((await put(store, runKeyOf('r'))).revision, revision)
    },
  },
  {
    name: 'a sign of life alone is no revision, however many there are',
    async run({ store, advance }) {
      const { revision, updatedAt } = await put(store, runKeyOf('r'))
      for (let times = 0; times < 5; times++) {
        await advance(1_000)
        await decide(store, runKeyOf('r'), { touched: true })
      }
      const run = await store.findRun('t', 'r')
      equal([run?.revision, run?.updatedAt], [revision, updatedAt])
    },
  },
  {
    name: 'an account replaces the one before, and is no revision',
    async run({ store }) {
      const cost = { amount: '0.1', currency: 'USD', source: 'local' } as const
      const accounts = [PENDING, { ...QUIET, cost, shares: [cost] }, { ...QUIET, top: true }, QUIET] as const
      await put(store, runKeyOf('r'))
      for (const derived of accounts) {
        const run = await decide(store, runKeyOf('r'), { derived })
        equal([run?.derived, run?.revision], [derived, 1])
      }
    },
  },
  {
    name: 'failures replace those of the session before, and are gone when there are none',
    async run({ store }) {
      const [other] = FAILURES
      await put(store, runKeyOf('r'), {}, { failures: FAILURES })
      for (const failures of [[{ runId: 'r', at: 1 }, other], [{ runId: 'r', at: 2 }], []] as const) {
        await decide(store, runKeyOf('r'), { failures: failures.filter((one) => one !== undefined) })
        equal((await store.findSession('t', 's'))?.failures, failures)
      }
    },
  },
  {
    name: 'a session that is open takes what is added and failures also from a run that is not stored',
    async run({ store }) {
      await store.openSession('t', 's')
      equal(
        await decide(store, runKeyOf('r'), { totalsChanges: TALLIES, failures: FAILURES, derived: PENDING }),
        undefined,
      )
      const session = await store.findSession('t', 's')
      equal([session?.totals, session?.failures], [TALLIES.session, FAILURES])
      equal((await store.findSpend('t', 'u', 0)).runs, 3)
      equal(await store.findRun('t', 'r'), undefined)
    },
  },
  {
    name: 'what a decision was made of stays what it was',
    async run({ store }) {
      const session = fullTotals('a', 1, '0.1')
      const descendants = fullTotals('b', 2, '0.2')
      const users = [{ userId: 'u', add: descendants.spend }]
      const decision = {
        totalsChanges: { session, descendants: [{ runId: 'p', add: descendants }], users },
        failures: FAILURES,
      }
      const copy = structuredClone(decision)
      await put(store, runKeyOf('r'), {}, decision)
      for (let times = 0; times < 3; times++) {
        const more = {
          session: descendants,
          descendants: [{ runId: 'p', add: session }],
          users: [{ userId: 'u', add: session.spend }],
        }
        await decide(store, runKeyOf('r'), { totalsChanges: more })
      }
      equal(decision, copy)
      equal((await store.findSession('t', 's'))?.totals, sumOf(session, descendants, descendants, descendants))
    },
  },
  {
    name: 'a run that a merge gave stays what it was',
    async run({ store, advance }) {
      const given = []
      for (let steps = 0; steps < 4; steps++) {
        await advance(1_000)
        const run = await put(store, runKeyOf('r'), { counts: { steps }, tags: [`${steps}`] })
        given.push({ run, copy: structuredClone(run) })
        await decide(store, runKeyOf('r'), { derived: PENDING, touched: true })
      }
      for (const { run, copy } of given) equal(run, copy)
    },
  },
]
