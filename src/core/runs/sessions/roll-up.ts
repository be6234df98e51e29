import type { RunAccount, RunFailure, RunState } from '../../../model/run.ts'
import { EMPTY } from '../../../model/sums.ts'
import { minusTally, noTally, type Spend, type Tally } from '../../../model/tally.ts'
import type { MergeSight, RunAbove, TallyChanges } from '../../../ports/run-store.ts'
import { latestOf } from '../merge/selectors.ts'
import { BELOW_PLACES, fitTally, SESSION_PLACES } from './cap-cardinality.ts'
import { failuresAfter } from './failures.ts'
import { type TalliedRun, tallyRun } from './run-totals.ts'
import { countAlike, passUp, tallySubtree, withUsers } from './subtree.ts'

/** What a merge changes beside its run. */
export interface RolledUp {
  readonly account: RunAccount
  readonly tallies: TallyChanges | undefined
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
export function rollUp(sight: MergeSight, state: RunState, account: RunAccount, now: number): RolledUp {
  const isAboveItself = sight.above.some(({ runId }) => runId === state.runId)
  const after = { state, account: isAboveItself ? { ...account, top: true as const } : account }
  return {
    account: after.account,
    tallies: hasParent(after) ? talliesBelow(sight, after) : talliesOfTop(sight, after),
    failures: failuresAfter(sight, state, now),
  }
}

function hasParent({ state, account }: TalliedRun): boolean {
  return state.parentRunId !== undefined && account.top === undefined
}

function talliesOfTop(sight: MergeSight, after: TalliedRun): TallyChanges | undefined {
  if (sight.run === undefined && sight.below === undefined) return talliesOfSingle(sight, after)
  const change = changeOf(sight, after)
  return change && talliesOf(sight, NONE, change)
}

/** By far the usual case: a run of which nothing was known, and which nothing is below or above. */
function talliesOfSingle({ session }: MergeSight, run: TalliedRun): TallyChanges {
  const tally = tallyRun(run)
  const userId = latestOf(run.state, 'userId')
  return {
    session: fitTally(session?.tally, tally, SESSION_PLACES),
    below: NONE,
    users: userId === undefined ? NONE : [{ userId, add: tally.spend }],
  }
}

const NONE: readonly never[] = Object.freeze([])

function talliesBelow(sight: MergeSight, after: TalliedRun): TallyChanges | undefined {
  const { run, below, above } = sight
  const asTop = run && !hasParent(run) ? tallySubtree(run, below) : run ? undefined : below
  if (asTop === undefined) {
    const change = changeOf(sight, after)
    if (change === undefined) return undefined
    const { sums, top } = climb(above, change)
    return talliesOf(sight, sums, top)
  }
  // Until now it was no other's: what it came to is taken from the session, and goes the way of its parent.
  const { sums, top } = climb(above, tallySubtree(after, below))
  return talliesOf(sight, sums, minusTally(top, asTop) ?? noTally())
}

/** By how much a run with all below it changes. What was below a run before it was recorded counted by itself. */
function changeOf({ run, below }: MergeSight, after: TalliedRun): Tally | undefined {
  if (run === undefined) {
    const whole = tallySubtree(after, below)
    return below === undefined ? whole : minusTally(whole, below)
  }
  if (!countAlike(run, after)) return minusTally(tallySubtree(after, below), tallySubtree(run, below))
  const change = minusTally(tallyRun(after), tallyRun(run))
  return change && passUp(after, change)
}

/** Adds a change below every run above, and gives what comes out of the last. */
function climb(above: readonly RunAbove[], change: Tally): { sums: TallyChanges['below']; top: Tally } {
  const sums: { runId: string; add: Tally }[] = []
  let top = change
  for (const { runId, run, below } of above) {
    // What has no place goes no further: a user without one below a run could not be told from the run's own later.
    const add = fitTally(below, top, BELOW_PLACES)
    sums.push({ runId, add })
    top = run ? passUp(run, add) : add
  }
  return { sums, top }
}

function talliesOf({ run, session }: MergeSight, below: TallyChanges['below'], top: Tally): TallyChanges {
  // What is below a run that is only now recorded may be as old as its session.
  const createdAt = (run ?? session)?.createdAt
  const users: { userId: string; add: Spend; at?: number }[] = []
  for (const userId in top.users) {
    const add = top.users[userId] as Spend
    users.push(createdAt !== undefined && goesDown(add) ? { userId, add, at: createdAt } : { userId, add })
  }
  return { session: fitTally(session?.tally, withUsers(top, EMPTY), SESSION_PLACES), below, users }
}

function goesDown({ tokens, cost }: Spend): boolean {
  if (tokens < 0) return true
  for (const currency in cost) if (cost[currency]?.startsWith('-')) return true
  return false
}
