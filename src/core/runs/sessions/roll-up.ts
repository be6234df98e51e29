import type { DerivedRunData, RunFailure, RunState } from '../../../model/run.ts'
import { statusOfRun, statusSource } from '../../../model/run-status.ts'
import { shownReport } from '../../../model/shown-run.ts'
import {
  addTotals,
  EMPTY,
  EMPTY_TOTALS,
  isEmpty,
  minusTotals,
  noTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import type { MergeSnapshot, RunAncestor, TotalsChanges } from '../../../ports/run-store.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { agentUser, finalOf, latestOf } from '../merge/selectors.ts'
import { capCardinality, DESCENDANT_LIMITS, SESSION_LIMITS } from './cardinality.ts'
import { type CountedRun, countAlike, passUp, totalsOfRun, totalsOfSubtree } from './run-totals.ts'

export interface RolledUp {
  readonly derived: DerivedRunData
  readonly totalsChanges: TotalsChanges | undefined
  readonly failures: readonly RunFailure[] | undefined
}

/**
 * Calculates how a changed run changes the totals that include it. Pure.
 *
 * The totals of a run are its own plus those of its descendants. They are added to its parent, and so on up to a run without a
 * parent or one that is not recorded; from there to the session. Amounts that applications metered go up only along parents that
 * applications named. Only changes are added, so the cost does not depend on the size of the session.
 *
 * @param derived As the merge created it; the result adds `top` when the run is its own ancestor.
 */
export function rollUp(snapshot: MergeSnapshot, state: RunState, derived: DerivedRunData, now: number): RolledUp {
  const { ancestors, top } = routeOf(snapshot, state)
  const after = { state, derived: top === undefined ? derived : { ...derived, top } }
  return {
    derived: after.derived,
    totalsChanges: changesOf(snapshot, after, ancestors),
    failures: failuresAfter(snapshot, state, now),
  }
}

/** The amounts that go up from a run to its parent. */
interface Link {
  readonly application: boolean
  readonly agent: boolean
}

const NO_LINK: Link = { application: false, agent: false }

function linkOf({ state, derived: { top } }: CountedRun): Link {
  if (top === true || shownReport(state).parentRunId === undefined) return NO_LINK
  return { application: state.application?.parentRunId !== undefined, agent: top === undefined }
}

function isLinked({ application, agent }: Link): boolean {
  return application || agent
}

interface Route {
  readonly ancestors: readonly RunAncestor[]
  readonly top: DerivedRunData['top'] | undefined
}

/** The ancestors after the merge. `top` is decided again only when the parent, or the source that names it, changes. */
function routeOf({ run, ancestors, newAncestors }: MergeSnapshot, state: RunState): Route {
  const parent = shownReport(state).parentRunId
  if (parent === undefined) return { ancestors: NONE, top: undefined }
  const isSame = run !== undefined && shownReport(run.state).parentRunId === parent
  if (isSame && run.state.application?.parentRunId === state.application?.parentRunId)
    return { ancestors, top: run.derived.top }
  const chain = newAncestors ?? ancestors
  return { ancestors: chain, top: topOf(state, chain) }
}

/** Decides `top`: the amounts of a run must not come back to it on their way up. */
function topOf(state: RunState, ancestors: readonly RunAncestor[]): Route['top'] {
  const isOfApplication = state.application?.parentRunId !== undefined
  let link: Link = { application: isOfApplication, agent: true }
  for (const { runId, run } of ancestors) {
    if (runId === state.runId) return link.application || !isOfApplication ? true : 'agent'
    if (run === undefined) return undefined
    const next = linkOf(run)
    link = { application: link.application && next.application, agent: link.agent && next.agent }
    if (!isLinked(link)) return undefined
  }
  return undefined
}

function changesOf(
  snapshot: MergeSnapshot,
  after: CountedRun,
  ancestors: readonly RunAncestor[],
): TotalsChanges | undefined {
  const { run, descendants } = snapshot
  const link = linkOf(after)
  if (run === undefined && descendants === undefined && !isLinked(link)) return changesOfSingle(snapshot, after)
  if (isUnmoved(snapshot, link, ancestors)) {
    const change = changeOf(snapshot, after)
    if (change === undefined) return undefined
    const { sums, top } = climb(after, ancestors, change)
    return totalsChanges(snapshot, sums, top)
  }
  // The totals leave the old ancestors, or the session, and return along the new ones.
  const here = climb(after, ancestors, totalsOfSubtree(after, descendants))
  const before = run ? totalsOfSubtree(run, descendants) : descendants
  if (before === undefined) return totalsChanges(snapshot, here.sums, here.top)
  const negative = minusTotals(EMPTY_TOTALS, before) ?? EMPTY_TOTALS
  const left = run ? climb(run, snapshot.ancestors, negative) : { sums: NONE, top: negative }
  return totalsChanges(snapshot, joinSums(left.sums, here.sums), sumOf(left.top, here.top))
}

function isUnmoved({ run, ancestors }: MergeSnapshot, link: Link, after: readonly RunAncestor[]): boolean {
  if (run === undefined) return !isLinked(link)
  const before = linkOf(run)
  if (before.application !== link.application || before.agent !== link.agent) return false
  return !isLinked(link) || ancestors === after
}

function joinSums(
  left: TotalsChanges['descendants'],
  here: TotalsChanges['descendants'],
): TotalsChanges['descendants'] {
  const others = new Map(left.map(({ runId, add }) => [runId, add]))
  const joined = here.map(({ runId, add }) => {
    const other = others.get(runId)
    others.delete(runId)
    return other ? { runId, add: sumOf(other, add) } : { runId, add }
  })
  return [...joined, ...[...others].map(([runId, add]) => ({ runId, add }))]
}

function sumOf(...parts: readonly Totals[]): Totals {
  const sum = noTotals()
  for (const part of parts) addTotals(sum, part)
  return sum
}

/** The usual case: a new run without ancestors and descendants. */
function changesOfSingle({ session }: MergeSnapshot, run: CountedRun): TotalsChanges {
  const totals = totalsOfSubtree(run, undefined)
  return {
    session: capCardinality(session?.totals, withoutUsers(totals), SESSION_LIMITS),
    descendants: NONE,
    users: spendOfUsers(totals).map(([userId, add]) => ({ userId, add })),
  }
}

const NONE: readonly never[] = Object.freeze([])

/** Change of a run with its descendants. Descendants of a run that was not recorded yet are already counted. */
function changeOf({ run, descendants }: MergeSnapshot, after: CountedRun): Totals | undefined {
  if (run === undefined) {
    const whole = totalsOfSubtree(after, descendants)
    return descendants === undefined ? whole : minusTotals(whole, descendants)
  }
  if (!countAlike(run, after))
    return minusTotals(totalsOfSubtree(after, descendants), totalsOfSubtree(run, descendants))
  const change = minusTotals(totalsOfRun(after), totalsOfRun(run))
  return change && passUp(after, change)
}

/** Adds a change to the descendants' totals of every ancestor, as far as it goes up; returns the change of the session. */
function climb(
  run: CountedRun,
  ancestors: readonly RunAncestor[],
  change: Totals,
): { sums: TotalsChanges['descendants']; top: Totals } {
  const sums: { runId: string; add: Totals }[] = []
  const stopped: Totals[] = []
  let moving: Totals | undefined = change
  let link = linkOf(run)
  for (const ancestor of ancestors) {
    const [passing, staying] = split(moving, link)
    if (staying) stopped.push(staying)
    moving = passing
    if (moving === undefined) break
    // Only the capped addition goes further up: a later subtraction could not distinguish a dropped user from the run's own.
    const add = capCardinality(ancestor.descendants, moving, DESCENDANT_LIMITS)
    sums.push({ runId: ancestor.runId, add })
    moving = add
    if (ancestor.run === undefined) break
    moving = passUp(ancestor.run, add)
    link = linkOf(ancestor.run)
  }
  if (stopped.length === 0) return { sums, top: moving ?? EMPTY_TOTALS }
  return { sums, top: moving ? sumOf(...stopped, moving) : sumOf(...stopped) }
}

/** Splits totals into those that go up along a link, and those that stay. */
function split(totals: Totals, { application, agent }: Link): readonly [Totals | undefined, Totals | undefined] {
  if (!application && !agent) return [undefined, totals]
  if (application && (agent || totals.agent === undefined)) return [totals, undefined]
  const { agent: ofAgents, ...ofApplications } = totals
  const others = ofAgents && { ...EMPTY_TOTALS, agent: ofAgents }
  return application ? [ofApplications, others] : [others, ofApplications]
}

function totalsChanges(
  { run, session }: MergeSnapshot,
  descendants: TotalsChanges['descendants'],
  top: Totals,
): TotalsChanges {
  // Descendants of a run that is recorded only now may be as old as the session.
  const createdAt = (run ?? session)?.createdAt
  const users = spendOfUsers(top).map(([userId, add]) =>
    createdAt !== undefined && goesDown(add) ? { userId, add, at: createdAt } : { userId, add },
  )
  return { session: capCardinality(session?.totals, withoutUsers(top), SESSION_LIMITS), descendants, users }
}

function spendOfUsers({ users, agent }: Totals): readonly (readonly [string, Spend])[] {
  if (agent === undefined) return isEmpty(users) ? NONE : Object.entries(users)
  return [...Object.entries(users), ...Object.entries(agent.users)]
}

function withoutUsers(totals: Totals): Totals {
  const { users, agent } = totals
  if (agent === undefined && isEmpty(users)) return totals
  return agent ? { ...totals, users: EMPTY, agent: { ...agent, users: EMPTY } } : { ...totals, users: EMPTY }
}

function goesDown({ tokens, cost }: Spend): boolean {
  if (tokens < 0) return true
  for (const currency in cost) if (cost[currency]?.startsWith('-')) return true
  return false
}

/** Maximum failures of each source in a session, so that an agent's push out none of an application's. */
const MAX_FAILURES = 10

/** Failures of a session after a run changed to this state, newest first; `undefined`: unchanged. */
function failuresAfter(
  { run, session }: MergeSnapshot,
  state: RunState,
  now: number,
): readonly RunFailure[] | undefined {
  const failures = session?.failures ?? []
  const known = failures.find(({ runId }) => runId === state.runId)
  if (statusOfRun(state) !== 'failed') return known && failures.filter((failure) => failure !== known)
  const reported = failureOf(state, known?.at ?? now)
  if (known) {
    const isSame = canonicalJson(known) === canonicalJson(reported)
    return isSame ? undefined : failures.map((failure) => (failure === known ? reported : failure))
  }
  const hadFailed = run !== undefined && statusOfRun(run.state) === 'failed'
  if (hadFailed) return undefined
  const alike = failures.filter(({ byAgent }) => byAgent === reported.byAgent)
  const oldest = alike.length < MAX_FAILURES ? undefined : alike.at(-1)
  return [reported, ...failures.filter((failure) => failure !== oldest)]
}

function failureOf(state: RunState, at: number): RunFailure {
  const report = shownReport(state)
  const userId = latestOf(report, 'userId')
  const ofAgent = agentUser(state)
  const error = finalOf(report, 'error')
  return {
    runId: state.runId,
    at,
    ...(statusSource(state) === 'agent' && { byAgent: true }),
    ...(userId !== undefined && { userId }),
    ...(ofAgent !== undefined && ofAgent !== userId && { agentUserId: ofAgent }),
    ...(error && { error }),
  }
}
