import type { DerivedRunData, ModelUsage, RunCost, RunState, RunStatus } from '../../../model/run.ts'
import { dictionary, EMPTY } from '../../../model/sums.ts'
import {
  addModel,
  type ModelTotals,
  openModel,
  type ProviderTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { statusOfRun } from '../merge/run-status.ts'
import { costOf, durationOf, latestOf } from '../merge/selectors.ts'
import { histogramOf } from './percentiles.ts'

/** What a run is tallied by. */
export type TalliedRun = Pick<StoredRun, 'state' | 'derived'>

/** What a run comes to by itself, as `viewRun` shows it; whose it is, is left out. */
export function totalsOfRun({ state, derived }: TalliedRun): Totals {
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

/** The tokens that a run tells of: input and output, or, where it tells neither, the total. */
export function tokensOf({ counts }: RunState): number | undefined {
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

/** Where a run tells what each model used, these have it, and the run itself is one of its own model. */
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

function shareOf({ counts, cost: reported }: ModelUsage, workedOut: RunCost | undefined): ModelTotals {
  const cost = reported ?? workedOut
  // A count that nobody told is left out of what is stored.
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
  const reported = latestOf(state, 'timings.timeToFirstTokenMs')
  const { startedAt, firstTokenAt } = state.earliest
  if (reported !== undefined || startedAt === undefined || firstTokenAt === undefined) return reported
  return firstTokenAt < startedAt ? undefined : firstTokenAt - startedAt
}
