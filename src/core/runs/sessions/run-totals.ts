import type { DerivedRunData, ModelUsage, RunCost, RunState, RunStatus } from '../../../model/run.ts'
import {
  addModel,
  addTotals,
  dictionary,
  EMPTY,
  type ModelTotals,
  mapModels,
  noTotals,
  openModel,
  type ProviderTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { statusOfRun } from '../merge/run-status.ts'
import { costOf, durationOf, latestOf } from '../merge/selectors.ts'
import { histogramOf } from './percentiles.ts'

/** The parts of a run that its totals depend on. */
export type CountedRun = Pick<StoredRun, 'state' | 'derived'>

/** The totals of one run by itself, with the values that `viewRun` shows; `users` stays empty. */
export function totalsOfRun({ state, derived }: CountedRun): Totals {
  const cost = costOf(state, derived)
  const money = cost === undefined ? EMPTY : { [cost.currency]: cost.amount }
  const duration = durationOf(state)
  const firstToken = firstTokenAfter(state)
  return {
    spend: spendOf(state, money),
    byStatus: ONE[statusOfRun(state)],
    counts: state.counts,
    models: modelsOf(state, derived, money),
    time: timeOf(state, duration),
    durations: duration === undefined ? EMPTY : histogramOf(duration),
    firstTokens: firstToken === undefined ? EMPTY : histogramOf(firstToken),
    users: EMPTY,
  }
}

/** The tokens of a run: input plus output, or the total when both are unknown. */
function tokensOf({ counts }: RunState): number | undefined {
  const { inputTokens, outputTokens, totalTokens } = counts
  if (inputTokens === undefined && outputTokens === undefined) return totalTokens
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

const ONE: Readonly<Record<RunStatus, Totals['byStatus']>> = {
  queued: { queued: 1 },
  running: { running: 1 },
  waiting: { waiting: 1 },
  completed: { completed: 1 },
  incomplete: { incomplete: 1 },
  failed: { failed: 1 },
  cancelled: { cancelled: 1 },
  expired: { expired: 1 },
}

function spendOf(state: RunState, cost: Spend['cost']): Spend {
  const tokens = tokensOf(state) ?? 0
  const isUnpriced = tokens > 0 && cost === EMPTY
  return { runs: 1, tokens, cost, unpricedRuns: isUnpriced ? 1 : 0, unpricedTokens: isUnpriced ? tokens : 0 }
}

/** With usage by model, the counts go to those models, and the run itself counts for its own model. */
function modelsOf(state: RunState, { shares }: DerivedRunData, cost: Spend['cost']): Totals['models'] {
  const provider = latestOf(state, 'provider') ?? ''
  const model = latestOf(state, 'model') ?? ''
  const usage = latestOf(state, 'usageByModel')
  if (usage === undefined || usage.length === 0)
    return { [provider]: { [model]: { runs: 1, counts: state.counts, cost } } }
  const models: Record<string, ProviderTotals> = dictionary()
  addModel(openModel(models, provider, model), { runs: 1, counts: EMPTY, cost: EMPTY })
  usage.forEach((share, index) => {
    addModel(openModel(models, share.provider, share.model), shareOf(share, shares?.[index]))
  })
  return models
}

function shareOf({ counts, cost: posted }: ModelUsage, calculated: RunCost | undefined): ModelTotals {
  const cost = posted ?? calculated
  // Unknown counts are absent from a stored state.
  return {
    runs: 0,
    counts: counts as ModelTotals['counts'],
    cost: cost ? { [cost.currency]: cost.amount } : EMPTY,
  }
}

function timeOf(state: RunState, durationMs: number | undefined): Totals['time'] {
  const activeMs = latestOf(state, 'timings.activeMs')
  const modelMs = latestOf(state, 'timings.modelMs')
  const toolMs = latestOf(state, 'timings.toolMs')
  const time: Record<string, number> = {}
  if (durationMs !== undefined) time.durationMs = durationMs
  if (activeMs !== undefined) time.activeMs = activeMs
  if (durationMs !== undefined && activeMs !== undefined && activeMs <= durationMs)
    time.waitingMs = durationMs - activeMs
  if (modelMs !== undefined) time.modelMs = modelMs
  if (toolMs !== undefined) time.toolMs = toolMs
  return time
}

/** Milliseconds from the start of a run to its first token. */
function firstTokenAfter(state: RunState): number | undefined {
  const posted = latestOf(state, 'timings.timeToFirstTokenMs')
  const { startedAt, firstTokenAt } = state.earliest
  if (posted !== undefined || startedAt === undefined || firstTokenAt === undefined) return posted
  return firstTokenAt < startedAt ? undefined : firstTokenAt - startedAt
}

/** The totals of a run with its descendants; nothing counts twice. */
export function totalsOfSubtree(run: CountedRun, descendants: Totals | undefined): Totals {
  const own = totalsOfRun(run)
  if (descendants === undefined) return ownedBy(run, own, EMPTY)
  const sum = noTotals()
  addTotals(sum, own)
  addTotals(sum, uncovered(run, descendants))
  return ownedBy(run, sum, descendants.users)
}

/** How a change of a run's descendants changes the run's subtree. */
export function passUp(run: CountedRun, change: Totals): Totals {
  return ownedBy(run, uncovered(run, change), change.users)
}

/** Whether descendants count the same below both states of a run. */
export function countAlike(a: CountedRun, b: CountedRun): boolean {
  return !isTree(a) && !isTree(b) && latestOf(a.state, 'userId') === latestOf(b.state, 'userId')
}

export function withUsers(totals: Totals, users: Totals['users']): Totals {
  if (users === totals.users) return totals
  const { spend, byStatus, counts, models, time, durations, firstTokens } = totals
  return { spend, byStatus, counts, models, time, durations, firstTokens, users }
}

/** A run that names a user owns all spend of its subtree; otherwise the descendants' users keep theirs. */
function ownedBy({ state }: CountedRun, totals: Totals, others: Totals['users']): Totals {
  const userId = latestOf(state, 'userId')
  return withUsers(totals, userId === undefined ? others : { [userId]: totals.spend })
}

function isTree({ state }: CountedRun): boolean {
  return latestOf(state, 'countsScope') === 'tree'
}

/**
 * Gives the part of the descendants' totals that a run does not cover. A run with `countsScope: 'tree'` covers the counts and
 * the cost that it states itself. Numbers of runs, statuses and times are never covered.
 */
function uncovered(run: CountedRun, descendants: Totals): Totals {
  if (!isTree(run)) return descendants
  const { counts } = run.state
  const usage = latestOf(run.state, 'usageByModel') ?? []
  const hasCost = costOf(run.state, run.derived) !== undefined
  const modelsHaveCost = hasCost || usage.some(({ cost }) => cost !== undefined)
  const modelsReport = (name: string): boolean =>
    Object.hasOwn(counts, name) || usage.some((share) => Object.hasOwn(share.counts, name))
  const { byStatus, time, durations, firstTokens, users } = descendants
  return {
    spend: uncoveredSpend(descendants.spend, tokensOf(run.state) !== undefined, hasCost),
    byStatus,
    counts: without(descendants.counts, (name) => Object.hasOwn(counts, name)),
    models: mapModels(descendants.models, (share) => ({
      runs: share.runs,
      counts: without(share.counts, modelsReport),
      cost: modelsHaveCost ? EMPTY : share.cost,
    })),
    time,
    durations,
    firstTokens,
    users,
  }
}

/**
 * Tokens that a run states for its whole tree are in its cost, or are unpriced with it, except those that are priced below. The
 * result for those can be negative.
 */
function uncoveredSpend(spend: Spend, hasTokens: boolean, hasCost: boolean): Spend {
  return {
    runs: spend.runs,
    tokens: hasTokens ? 0 : spend.tokens,
    cost: hasCost ? EMPTY : spend.cost,
    unpricedRuns: hasCost ? 0 : spend.unpricedRuns,
    unpricedTokens: hasCost ? 0 : hasTokens ? spend.unpricedTokens - spend.tokens : spend.unpricedTokens,
  }
}

function without(counts: Readonly<Record<string, number>>, isReported: (name: string) => boolean): typeof counts {
  const left = dictionary<number>()
  for (const name in counts) if (!isReported(name)) left[name] = counts[name] as number
  return left
}
