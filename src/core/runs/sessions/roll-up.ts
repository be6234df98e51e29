import type { DerivedRunData, RunFailure, RunState } from '../../../model/run.ts'
import {
  addModel,
  dictionary,
  EMPTY,
  mapModels,
  minusTotals,
  named,
  noTotals,
  openModel,
  type ProviderTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import type { MergeSnapshot, RunAncestor, TotalsChanges } from '../../../ports/run-store.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { statusOfRun } from '../merge/run-status.ts'
import { finalOf, latestOf } from '../merge/selectors.ts'
import { KNOWN_COUNTS } from '../usage/counts.ts'
import { type CountedRun, countAlike, passUp, totalsOfRun, totalsOfSubtree, withUsers } from './run-totals.ts'

/** The changes of a merge beside its run. */
export interface RolledUp {
  readonly derived: DerivedRunData
  readonly totalsChanges: TotalsChanges | undefined
  readonly failures: readonly RunFailure[] | undefined
}

/**
 * Calculates how a changed run changes the totals that it is part of. Pure.
 *
 * The totals of a run are its own plus those of its descendants. They go to its parent, and so on up to a run without a parent
 * or to one that is not recorded; from there to the session. Only the change goes up, so that it costs no more in a
 * large session than in a small one.
 *
 * @param derived As the merge made it; the result adds `top` when the run turns out to be its own ancestor.
 */
export function rollUp(snapshot: MergeSnapshot, state: RunState, derived: DerivedRunData, now: number): RolledUp {
  const isOwnAncestor = snapshot.ancestors.some(({ runId }) => runId === state.runId)
  const after = { state, derived: isOwnAncestor ? { ...derived, top: true as const } : derived }
  return {
    derived: after.derived,
    totalsChanges: hasParent(after) ? changesOfChild(snapshot, after) : changesOfTop(snapshot, after),
    failures: failuresAfter(snapshot, state, now),
  }
}

function hasParent({ state, derived }: CountedRun): boolean {
  return state.parentRunId !== undefined && derived.top === undefined
}

function changesOfTop(snapshot: MergeSnapshot, after: CountedRun): TotalsChanges | undefined {
  if (snapshot.run === undefined && snapshot.descendants === undefined) return changesOfSingle(snapshot, after)
  const change = changeOf(snapshot, after)
  return change && totalsChanges(snapshot, NONE, change)
}

/** The usual case: a new run without ancestors and descendants. */
function changesOfSingle({ session }: MergeSnapshot, run: CountedRun): TotalsChanges {
  const totals = totalsOfRun(run)
  const userId = latestOf(run.state, 'userId')
  return {
    session: capCardinality(session?.totals, totals, SESSION_LIMITS),
    descendants: NONE,
    users: userId === undefined ? NONE : [{ userId, add: totals.spend }],
  }
}

const NONE: readonly never[] = Object.freeze([])

function changesOfChild(snapshot: MergeSnapshot, after: CountedRun): TotalsChanges | undefined {
  const { run, descendants, ancestors } = snapshot
  const asTop = run && !hasParent(run) ? totalsOfSubtree(run, descendants) : run ? undefined : descendants
  if (asTop === undefined) {
    const change = changeOf(snapshot, after)
    if (change === undefined) return undefined
    const { sums, top } = climb(ancestors, change)
    return totalsChanges(snapshot, sums, top)
  }
  // Until now the run had no parent: its totals leave the session, and come back through its ancestors.
  const { sums, top } = climb(ancestors, totalsOfSubtree(after, descendants))
  return totalsChanges(snapshot, sums, minusTotals(top, asTop) ?? noTotals())
}

/** The change of a run with its descendants. Descendants of a run that was not recorded yet are already counted. */
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

/** Adds a change to the descendants' totals of every ancestor; gives what the topmost passes on. */
function climb(ancestors: readonly RunAncestor[], change: Totals): { sums: TotalsChanges['descendants']; top: Totals } {
  const sums: { runId: string; add: Totals }[] = []
  let top = change
  for (const { runId, run, descendants } of ancestors) {
    // Only what the cap lets in goes further up: a later subtraction could not tell a dropped user from the run's own.
    const add = capCardinality(descendants, top, DESCENDANT_LIMITS)
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
  // Descendants of a run that is recorded only now may be as old as the session.
  const createdAt = (run ?? session)?.createdAt
  const users: { userId: string; add: Spend; at?: number }[] = []
  for (const userId in top.users) {
    const add = top.users[userId] as Spend
    users.push(createdAt !== undefined && goesDown(add) ? { userId, add, at: createdAt } : { userId, add })
  }
  return { session: capCardinality(session?.totals, withUsers(top, EMPTY), SESSION_LIMITS), descendants, users }
}

function goesDown({ tokens, cost }: Spend): boolean {
  if (tokens < 0) return true
  for (const currency in cost) if (cost[currency]?.startsWith('-')) return true
  return false
}

/**
 * How many names a sum keeps; names are texts of callers. A full sum drops further names, except that further models go to
 * {@link OTHERS}. No name ever leaves a sum, so a dropped name stays dropped, and amounts are subtracted where they were
 * added. Known counts and currencies are never dropped: their number is fixed.
 */
export interface CardinalityLimits {
  readonly models: number
  /** Counters of the caller's own. */
  readonly counters: number
  /** The same, for each model. */
  readonly modelCounters: number
  readonly users: number
}

export const SESSION_LIMITS: CardinalityLimits = { models: 200, counters: 256, modelCounters: 16, users: 0 }

/** Smaller: totals of descendants are added to every ancestor when a run finds its parent. */
export const DESCENDANT_LIMITS: CardinalityLimits = { models: 32, counters: 64, modelCounters: 16, users: 256 }

/** The model, of provider `''`, that collects the models beyond the limit. */
const OTHERS = '(other)'

type Models = Totals['models']

/** Caps the cardinality of an addition: gives what `sum` has room for, which usually is `add` itself. */
export function capCardinality(sum: Totals | undefined, add: Totals, limits: CardinalityLimits): Totals {
  const counts = capNames(sum?.counts ?? EMPTY, add.counts, limits.counters, KNOWN_COUNTS)
  const known: Models = sum?.models ?? EMPTY
  const models = mapModels(capModels(known, add.models, limits.models), (share, provider, model) => {
    const before = named(named(known, provider) ?? EMPTY, model)?.counts ?? EMPTY
    const capped = capNames(before, share.counts, limits.modelCounters, KNOWN_COUNTS)
    return capped === share.counts ? share : { ...share, counts: capped }
  })
  const users = capNames(sum?.users ?? EMPTY, add.users, limits.users, NO_NAMES)
  if (counts === add.counts && models === add.models && users === add.users) return add
  const { spend, byStatus, time, durations, firstTokens } = add
  return { spend, byStatus, counts, models, time, durations, firstTokens, users }
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Keeps the names of `add` that `sum` has or has room for. Names in `exempt` need no room. */
function capNames<T>(
  sum: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, T>>,
  max: number,
  exempt: ReadonlySet<string>,
): typeof add {
  let fresh = 0
  for (const name in add) if (!Object.hasOwn(sum, name) && !exempt.has(name)) fresh++
  if (fresh === 0) return add
  let room = max
  for (const name in sum) if (!exempt.has(name)) room--
  if (fresh <= room) return add
  const kept = dictionary<T>()
  for (const name in add) if (Object.hasOwn(sum, name) || exempt.has(name) || room-- > 0) kept[name] = add[name] as T
  return kept
}

function capModels(sum: Models, add: Models, max: number): Models {
  let fresh = 0
  for (const provider in add) for (const model in add[provider]) if (!hasModel(sum, provider, model)) fresh++
  if (fresh === 0) return add
  let room = max
  for (const provider in sum) for (const _ in sum[provider]) room--
  if (fresh <= room) return add
  const kept: Record<string, ProviderTotals> = dictionary()
  for (const provider in add)
    for (const [model, share] of Object.entries(add[provider] ?? EMPTY)) {
      const fits = hasModel(sum, provider, model) || room-- > 0
      addModel(fits ? openModel(kept, provider, model) : openModel(kept, '', OTHERS), share)
    }
  return kept
}

function hasModel(models: Models, provider: string, model: string): boolean {
  const ofProvider = named(models, provider)
  return ofProvider !== undefined && Object.hasOwn(ofProvider, model)
}

/** How many failed runs a session keeps. */
const MAX_FAILURES = 10

/** The failures of a session after a run came to this state, newest first; `undefined`: unchanged. */
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
  return hadFailed ? undefined : [reported, ...failures].slice(0, MAX_FAILURES)
}

function failureOf(state: RunState, at: number): RunFailure {
  const userId = latestOf(state, 'userId')
  const error = finalOf(state, 'error')
  return { runId: state.runId, at, ...(userId !== undefined && { userId }), ...(error && { error }) }
}
