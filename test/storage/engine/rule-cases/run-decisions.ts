import { equal, ok } from '../../../../src/contract-tests/assertions.ts'
import {
  countRuns,
  fullTotals,
  PENDING,
  QUIET,
  runKeyOf,
  stateOf,
  sumOf,
} from '../../../../src/contract-tests/run-store/run-fixtures.ts'
import {
  happened,
  type RunHarness,
  type RunStoreCase,
  runCases,
  timedRuns,
} from '../../../../src/contract-tests/run-store/run-harness.ts'
import { noTotals } from '../../../../src/model/totals.ts'
import type { MergeDecision, RunKey } from '../../../../src/ports/run-store.ts'

const FAILURES = [{ runId: 'other', at: 5, userId: 'u', error: { type: 'timeout', message: 'too late' } }]
const CHANGES = countRuns(3, 'p', 'u')

/** One of the 32 combinations of the members of a decision, one bit each. */
function decisionOf(bits: number, key: RunKey): MergeDecision<number> {
  return {
    result: bits,
    ...(bits & 1 && { state: stateOf(key, { status: 'failed', counts: { steps: bits } }) }),
    ...(bits & 2 && { derived: PENDING }),
    ...(bits & 4 && { touched: true }),
    ...(bits & 8 && { totalsChanges: CHANGES }),
    ...(bits & 16 && { failures: FAILURES }),
  }
}

const ALL_DECISIONS = Array.from({ length: 32 }, (_, bits) => bits)

async function decideOnStored(t: RunHarness, bits: number): Promise<void> {
  const key = runKeyOf(`r${bits}`, { sessionId: `s${bits}` })
  const before = await t.put(key, { status: 'running' })
  const { updatedAt = 0 } = (await t.session(key.sessionId)) ?? {}
  await t.advance(1_000)
  const decision = decisionOf(bits, key)
  const { value, when } = await timedRuns(t, () => t.store.mergeRun(key, () => decision))
  const { run } = value
  ok(run, 'a merge returns the stored run')
  const what = `a decision of ${Object.keys(decision).join(', ')}`
  equal(run.state, decision.state ?? before.state, what)
  equal(run.derived, decision.derived ?? before.derived, what)
  equal([run.createdAt, run.revision], [before.createdAt, decision.state ? 2 : 1], what)
  if (decision.state) happened(run.updatedAt, when, `updatedAt after ${what}`)
  else equal(run.updatedAt, before.updatedAt, what)
  if (decision.touched) happened(run.lastSeenAt, when, `lastSeenAt after ${what}`)
  else equal(run.lastSeenAt, before.lastSeenAt, what)
  equal(await t.run(key), run, what)
  const session = await t.session(key.sessionId)
  if (decision.state) happened(session?.updatedAt, when, `updatedAt of the session after ${what}`)
  else equal(session?.updatedAt, updatedAt, what)
  equal(session?.totals, decision.totalsChanges?.session ?? noTotals(), what)
  equal(session?.failures, decision.failures ?? [], what)
  const descendants = await t.descendants(runKeyOf('p', { sessionId: key.sessionId }))
  equal(descendants, decision.totalsChanges?.descendants[0]?.add, what)
}

async function decideOnNothing(t: RunHarness, bits: number): Promise<void> {
  const key = runKeyOf(`r${bits}`, { sessionId: `s${bits}` })
  // A decision that creates a run always has derived data.
  const decision = { ...decisionOf(bits, key), ...(bits & 1 && { derived: PENDING }) }
  const { value, when } = await timedRuns(t, () => t.store.mergeRun(key, () => decision))
  const what = `a decision of ${Object.keys(decision).join(', ')}`
  const run = await t.run(key)
  equal(value, { result: bits, run }, what)
  const session = await t.session(key.sessionId)
  const { runs } = await t.spend()
  const descendants = await t.descendants(runKeyOf('p', { sessionId: key.sessionId }))
  if (!decision.state) return equal([run, session, runs, descendants], [undefined, undefined, 0, undefined], what)
  equal([run?.tenant, run?.state, run?.derived, run?.revision], ['t', decision.state, PENDING, 1], what)
  happened(run?.createdAt, when, `createdAt after ${what}`)
  equal([run?.updatedAt, run?.lastSeenAt], [run?.createdAt, run?.createdAt], what)
  happened(session?.createdAt, when, `createdAt of the session after ${what}`)
  equal([session?.tenant, session?.sessionId], ['t', key.sessionId], what)
  equal(session?.totals, decision.totalsChanges?.session ?? noTotals(), what)
  equal(session?.failures, decision.failures ?? [], what)
  equal(descendants, decision.totalsChanges?.descendants[0]?.add, what)
  equal(runs, decision.totalsChanges ? 3 : 0, what)
  await t.store.erase('t', { userId: 'u' })
}

export const decisionCases: readonly RunStoreCase[] = runCases([], {
  'a decision on a stored run changes exactly its members': async (t) => {
    for (const bits of ALL_DECISIONS) await decideOnStored(t, bits)
  },
  'a decision without a stored run creates the run only if it has a state': async (t) => {
    for (const bits of ALL_DECISIONS) await decideOnNothing(t, bits)
  },
  'undefined members of a decision count as absent': async (t) => {
    const run = await t.put('r', {}, { failures: FAILURES })
    const nothing = {
      state: undefined,
      derived: undefined,
      totalsChanges: undefined,
      failures: undefined,
      touched: false,
    }
    equal(await t.decide('r', nothing), run)
    equal((await t.session())?.failures, FAILURES)
  },
  'every decided state is a new revision, also an equal one': async (t) => {
    for (const revision of [1, 2, 3, 4, 5]) equal((await t.put('r')).revision, revision)
  },
  'touched alone is no revision': async (t) => {
    const { revision, updatedAt } = await t.put('r')
    for (let times = 0; times < 5; times++) {
      await t.advance(1_000)
      await t.decide('r', { touched: true })
    }
    const run = await t.run('r')
    equal([run?.revision, run?.updatedAt], [revision, updatedAt])
  },
  'derived data replaces the earlier data, and is no revision': async (t) => {
    const cost = { amount: '0.1', currency: 'USD', source: 'local' } as const
    const values = [PENDING, { ...QUIET, cost, shares: [cost] }, { ...QUIET, top: true }, QUIET] as const
    await t.put('r')
    for (const derived of values) {
      const run = await t.decide('r', { derived })
      equal([run?.derived, run?.revision], [derived, 1])
    }
  },
  'failures replace the earlier failures of the session': async (t) => {
    const [other] = FAILURES
    await t.put('r', {}, { failures: FAILURES })
    for (const failures of [[{ runId: 'r', at: 1 }, other], [{ runId: 'r', at: 2 }], []] as const) {
      await t.decide('r', { failures: failures.filter((one) => one !== undefined) })
      equal((await t.session())?.failures, failures)
    }
  },
  'a decision on an open session adds totals and failures without a stored run': async (t) => {
    await t.store.openSession('t', 's')
    equal(await t.decide('r', { totalsChanges: CHANGES, failures: FAILURES, derived: PENDING }), undefined)
    const session = await t.session()
    equal([session?.totals, session?.failures], [CHANGES.session, FAILURES])
    equal((await t.spend()).runs, 3)
    equal(await t.run('r'), undefined)
  },
  'a merge does not change the decision that it is given': async (t) => {
    const session = fullTotals('a', 1, '0.1')
    const descendants = fullTotals('b', 2, '0.2')
    const users = [{ userId: 'u', add: descendants.spend }]
    const decision = {
      totalsChanges: { session, descendants: [{ runId: 'p', add: descendants }], users },
      failures: FAILURES,
    }
    const copy = structuredClone(decision)
    await t.put('r', {}, decision)
    for (let times = 0; times < 3; times++) {
      const more = {
        session: descendants,
        descendants: [{ runId: 'p', add: session }],
        users: [{ userId: 'u', add: session.spend }],
      }
      await t.decide('r', { totalsChanges: more })
    }
    equal(decision, copy)
    equal((await t.session())?.totals, sumOf(session, descendants, descendants, descendants))
  },
  'a later merge does not change an earlier result': async (t) => {
    const given = []
    for (let steps = 0; steps < 4; steps++) {
      await t.advance(1_000)
      const run = await t.put('r', { counts: { steps }, tags: [`${steps}`] })
      given.push({ run, copy: structuredClone(run) })
      await t.decide('r', { derived: PENDING, touched: true })
    }
    for (const { run, copy } of given) equal(run, copy)
  },
})
