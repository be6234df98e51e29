import { noTotals } from '../../model/totals.ts'
import type { MergeDecision, RunKey } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { countRuns, PENDING, runKeyOf, stateOf } from './run-fixtures.ts'
import { happened, type RunHarness, type RunStoreCase, timedRuns } from './run-harness.ts'

const FAILURES = [{ runId: 'other', at: 5, userId: 'u', error: { type: 'timeout', message: 'too late' } }]
const CHANGES = countRuns(3, 'p', 'u')

/** One of the 32 combinations of the members of a decision: a bit of the number for each. */
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

const _ALL_DECISIONS = Array.from({ length: 32 }, (_, bits) => bits)

async function _decideOnStored(t: RunHarness, bits: number): Promise<void> {
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
  equal(await t.run(key.runId), run, what)
  const session = await t.session(key.sessionId)
  if (decision.state) happened(session?.updatedAt, when, `updatedAt of the session after ${what}`)
  else equal(session?.updatedAt, updatedAt, what)
  equal(session?.totals, decision.totalsChanges?.session ?? noTotals(), what)
  equal(session?.failures, decision.failures ?? [], what)
  const descendants = await t.descendants(runKeyOf('p', { sessionId: key.sessionId }))
  equal(descendants, decision.totalsChanges?.descendants[0]?.add, what)
}

async function _decideOnNothing(t: RunHarness, bits: number): Promise<void> {
  const key = runKeyOf(`r${bits}`, { sessionId: `s${bits}` })
  // A decision that creates a run always has derived data.
  const decision = { ...decisionOf(bits, key), ...(bits & 1 && { derived: PENDING }) }
  const { value, when } = await timedRuns(t, () => t.store.mergeRun(key, () => decision))
  const what = `a decision of ${Object.keys(decision).join(', ')}`
  const run = await t.run(key.runId)
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

/** The effects of a decision. */
export const decisionCases: readonly RunStoreCase[] = []
