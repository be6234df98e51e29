import type { DerivedRunData, RunFailure, RunState } from '../../../model/run.ts'
import { EMPTY } from '../../../model/sums.ts'
import { minusTotals, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import type { MergeSnapshot, RunAncestor, TotalsChanges } from '../../../ports/run-store.ts'
import { latestOf } from '../merge/selectors.ts'
import { BELOW_PLACES, capCardinality, SESSION_PLACES } from './cap-cardinality.ts'
import { failuresAfter } from './failures.ts'
import { type TalliedRun, totalsOfRun } from './run-totals.ts'
import { countAlike, passUp, totalsOfSubtree, withUsers } from './subtree.ts'

/** What a merge changes beside its run. */
export interface RolledUp {
  readonly derived: DerivedRunData
  readonly totalsChanges: TotalsChanges | undefined
  readonly failures: readonly RunFailure[] | undefined
}

/**
 * Works out by how much a changed run changes the sums that it is part of. Pure.
 *
 * A run comes to what it tells itself, and to what is below it; that is below its parent, and so on up to a run without a
 * parent, or to one that is not recorded. What comes out there is the session's. Only what changed is passed up, so that
 * it costs no more in a large session than in a small one.
 *
 * @param account As the merge made it; the one that is given out says `top` when the run is found to be above itself.
 */
export function rollUp(snapshot: MergeSnapshot, state: RunState, derived: DerivedRunData, now: number): RolledUp {
  const isOwnAncestor = snapshot.ancestors.some(({ runId }) => runId === state.runId)
  const after = { state, derived: isOwnAncestor ? { ...derived, top: true as const } : derived }
  return {
    derived: after.derived,
    totalsChanges: hasParent(after) ? totalsBelow(snapshot, after) : changesOfTop(snapshot, after),
    failures: failuresAfter(snapshot, state, now),
  }
}

function hasParent({ state, derived }: TalliedRun): boolean {
  return state.parentRunId !== undefined && derived.top === undefined
}

function changesOfTop(snapshot: MergeSnapshot, after: TalliedRun): TotalsChanges | undefined {
  if (snapshot.run === undefined && snapshot.descendants === undefined) return changesOfSingle(snapshot, after)
  const change = changeOf(snapshot, after)
  return change && totalsChanges(snapshot, NONE, change)
}

/** By far the usual case: a run of which nothing was known, and which nothing is below or above. */
function changesOfSingle({ session }: MergeSnapshot, run: TalliedRun): TotalsChanges {
  const totals = totalsOfRun(run)
  const userId = latestOf(run.state, 'userId')
  return {
    session: capCardinality(session?.totals, totals, SESSION_PLACES),
    descendants: NONE,
    users: userId === undefined ? NONE : [{ userId, add: totals.spend }],
  }
}

const NONE: readonly never[] = Object.freeze([])

function totalsBelow(snapshot: MergeSnapshot, after: TalliedRun): TotalsChanges | undefined {
  const { run, descendants, ancestors } = snapshot
  const asTop = run && !hasParent(run) ? totalsOfSubtree(run, descendants) : run ? undefined : descendants
  if (asTop === undefined) {
    const change = changeOf(snapshot, after)
    if (change === undefined) return undefined
    const { sums, top } = climb(ancestors, change)
    return totalsChanges(snapshot, sums, top)
  }
  // Until now it was no other's: what it came to is taken from the session, and goes the way of its parent.
  const { sums, top } = climb(ancestors, totalsOfSubtree(after, descendants))
  return totalsChanges(snapshot, sums, minusTotals(top, asTop) ?? noTotals())
}

/** By how much a run with all below it changes. What was below a run before it was recorded counted by itself. */
function changeOf({ run, descendants }: MergeSnapshot, after: TalliedRun): Totals | undefined {
  if (run === undefined) {
    const whole = totalsOfSubtree(after, descendants)
    return descendants === undefined ? whole : minusTotals(whole, descendants)
  }
  if (!countAlike(run, after))
    return minusTotals(totalsOfSubtree(after, descendants), totalsOfSubtree(run, descendants))
  const change = minusTotals(totalsOfRun(after), totalsOfRun(run))
  return change && passUp(after, change)
}

/** Adds a change below every run above, and gives what comes out of the last. */
function climb(ancestors: readonly RunAncestor[], change: Totals): { sums: TotalsChanges['descendants']; top: Totals } {
  const sums: { runId: string; add: Totals }[] = []
  let top = change
  for (const { runId, run, descendants } of ancestors) {
    // What has no place goes no further: a user without one below a run could not be told from the run's own later.
    const add = capCardinality(descendants, top, BELOW_PLACES)
    sums.push({ runId, add })
    top = run ? passUp(run, add) : add
  }
  return { sums, top }
}

function totalsChanges(
  { run, session }: MergeSnapshot,
  descendants: TotalsChanges['descendants'],
  top: Totals,
): TotalsChanges {
  // What is below a run that is only now recorded may be as old as its session.
  const createdAt = (run ?? session)?.createdAt
  const users: { userId: string; add: Spend; at?: number }[] = []
  for (const userId in top.users) {
    const add = top.users[userId] as Spend
    users.push(createdAt !== undefined && goesDown(add) ? { userId, add, at: createdAt } : { userId, add })
  }
  return { session: capCardinality(session?.totals, withUsers(top, EMPTY), SESSION_PLACES), descendants, users }
}

function goesDown({ tokens, cost }: Spend): boolean {
  if (tokens < 0) return true
  for (const currency in cost) if (cost[currency]?.startsWith('-')) return true
  return false
}
