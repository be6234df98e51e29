import type { DerivedRunData, ModelUsage, RunCost, RunReport, RunStatus } from '../../../model/run.ts'
import { meteringSource, shownReport } from '../../../model/shown-run.ts'
import {
  addModel,
  addTotals,
  dictionary,
  EMPTY,
  EMPTY_TOTALS,
  isEmpty,
  type ModelTotals,
  mapModels,
  named,
  noTotals,
  openModel,
  type ProviderTotals,
  type SourceTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { agentUser, applicationUser, costOf, durationOf, latestOf } from '../merge/selectors.ts'
import { histogramOf } from './percentiles.ts'

export type CountedRun = Pick<StoredRun, 'state' | 'derived'>

/**
 * Totals of one run without descendants, with the values of `viewRun`, in the sums of the source that metered it; times are in the
 * sums of the source that reported them. Only amounts of an agent have a user: the agent's.
 */
export function totalsOfRun({ state, derived }: CountedRun): Totals {
  const { application, agent } = state
  const shown = shownReport(state)
  const own = totalsOfReport(shown, derived)
  if (agent === undefined) return own
  const isOfApplication = meteringSource(state) === 'application'
  const userId = agentUser(state)
  const metered = isOfApplication || userId === undefined ? own : { ...own, users: { [userId]: own.spend } }
  if (application === undefined) return { ...EMPTY_TOTALS, agent: metered }
  const times = timesOf(application)
  const others = timesBeside(times, own)
  if (!isOfApplication) return { ...EMPTY_TOTALS, ...times, agent: { ...metered, ...others } }
  return { ...metered, ...times, ...(!areNone(others) && { agent: { ...EMPTY_TOTALS, ...others } }) }
}

function totalsOfReport(report: RunReport, derived: DerivedRunData): SourceTotals {
  const cost = costOf(report, derived)
  const money = cost === undefined ? EMPTY : { [cost.currency]: cost.amount }
  const { time, durations, firstTokens } = timesOf(report)
  return {
    spend: spendOf(report, money),
    byStatus: ONE[report.status ?? 'running'],
    counts: report.counts,
    models: modelsOf(report, derived, money),
    time,
    durations,
    firstTokens,
    users: EMPTY,
  }
}

type Times = Pick<SourceTotals, 'time' | 'durations' | 'firstTokens'>

function timesOf(report: RunReport): Times {
  const duration = durationOf(report)
  const firstToken = firstTokenAfter(report)
  return {
    time: timeOf(report, duration),
    durations: duration === undefined ? EMPTY : histogramOf(duration),
    firstTokens: firstToken === undefined ? EMPTY : histogramOf(firstToken),
  }
}

/** The times that a run shows and its application did not report. */
function timesBeside(application: Times, shown: Times): Times {
  return {
    time: without(shown.time, (name) => Object.hasOwn(application.time, name)),
    durations: isEmpty(application.durations) ? shown.durations : EMPTY,
    firstTokens: isEmpty(application.firstTokens) ? shown.firstTokens : EMPTY,
  }
}

function areNone({ time, durations, firstTokens }: Times): boolean {
  return isEmpty(time) && isEmpty(durations) && isEmpty(firstTokens)
}

/** Input plus output, or the total when both are unknown. */
function tokensOf({ counts }: RunReport): number | undefined {
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

function spendOf(report: RunReport, cost: Spend['cost']): Spend {
  const tokens = tokensOf(report) ?? 0
  const isUnpriced = tokens > 0 && cost === EMPTY
  return { runs: 1, tokens, cost, unpricedRuns: isUnpriced ? 1 : 0, unpricedTokens: isUnpriced ? tokens : 0 }
}

/** With usage by model, the counts go to those models, and the run itself counts for its own model. */
function modelsOf(report: RunReport, { shares }: DerivedRunData, cost: Spend['cost']): Totals['models'] {
  const provider = latestOf(report, 'provider') ?? ''
  const model = latestOf(report, 'model') ?? ''
  const usage = latestOf(report, 'usageByModel')
  if (usage === undefined || usage.length === 0)
    return { [provider]: { [model]: { runs: 1, counts: report.counts, cost } } }
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

function timeOf(report: RunReport, durationMs: number | undefined): Totals['time'] {
  const activeMs = latestOf(report, 'timings.activeMs')
  const modelMs = latestOf(report, 'timings.modelMs')
  const toolMs = latestOf(report, 'timings.toolMs')
  const time: Record<string, number> = {}
  if (durationMs !== undefined) time.durationMs = durationMs
  if (activeMs !== undefined) time.activeMs = activeMs
  if (durationMs !== undefined && activeMs !== undefined && activeMs <= durationMs)
    time.waitingMs = durationMs - activeMs
  if (modelMs !== undefined) time.modelMs = modelMs
  if (toolMs !== undefined) time.toolMs = toolMs
  return time
}

function firstTokenAfter(report: RunReport): number | undefined {
  const posted = latestOf(report, 'timings.timeToFirstTokenMs')
  const { startedAt, firstTokenAt } = report.earliest
  if (posted !== undefined || startedAt === undefined || firstTokenAt === undefined) return posted
  return firstTokenAt < startedAt ? undefined : firstTokenAt - startedAt
}

/** Totals of a run with its descendants. */
export function totalsOfSubtree(run: CountedRun, descendants: Totals | undefined): Totals {
  const own = totalsOfRun(run)
  if (descendants === undefined) return ownedBy(run, own, EMPTY)
  const sum = noTotals()
  addTotals(sum, own)
  addTotals(sum, uncovered(run, descendants))
  return ownedBy(run, sum, descendants.users)
}

/** Converts a change of a run's descendants to the change of its subtree. */
export function passUp(run: CountedRun, change: Totals): Totals {
  return ownedBy(run, uncovered(run, change), change.users)
}

/** True if descendants count equally under both states of a run. */
export function countAlike(a: CountedRun, b: CountedRun): boolean {
  const covers = isTree(shownReport(a.state)) || isTree(shownReport(b.state))
  return !covers && applicationUser(a.state) === applicationUser(b.state)
}

/** A run of a user, named by an application, owns the applications' spend of its subtree; else the descendants' users keep theirs. */
function ownedBy({ state }: CountedRun, totals: Totals, others: Totals['users']): Totals {
  const userId = applicationUser(state)
  const users = userId === undefined ? others : isNoSpend(totals.spend) ? EMPTY : { [userId]: totals.spend }
  return users === totals.users ? totals : { ...totals, users }
}

function isNoSpend({ runs, tokens, cost, unpricedRuns, unpricedTokens }: Spend): boolean {
  return runs === 0 && tokens === 0 && unpricedRuns === 0 && unpricedTokens === 0 && isEmpty(cost)
}

function isTree(report: RunReport): boolean {
  return latestOf(report, 'countsScope') === 'tree'
}

/**
 * Returns the descendants' totals without the counts and the cost that a run with `countsScope: 'tree'` states itself. A tree of an
 * application covers the amounts of both sources below it, a tree of an agent those of agents.
 */
function uncovered({ state, derived }: CountedRun, descendants: Totals): Totals {
  const report = shownReport(state)
  if (!isTree(report)) return descendants
  const tree = coveringTree(report, derived)
  const isOfAgent = meteringSource(state) === 'agent'
  const { agent, ...application } = descendants
  const left = isOfAgent ? application : { ...tree.uncover(application), spend: tree.uncoverPriced(application.spend) }
  if (agent === undefined) return left
  const userId = isOfAgent ? agentUser(state) : applicationUser(state)
  const own = userId === undefined ? undefined : named(agent.users, userId)
  const users =
    own === undefined || userId === undefined ? agent.users : { ...agent.users, [userId]: tree.uncoverSpend(own) }
  return { ...left, agent: { ...tree.uncover(agent), users } }
}

interface CoveringTree {
  uncover(descendants: SourceTotals): SourceTotals
  uncoverSpend(spend: Spend): Spend
  /** Tokens of a tree are in its cost, or unpriced with it, except those priced in descendants. The result can be negative. */
  uncoverPriced(spend: Spend): Spend
}

function coveringTree(report: RunReport, derived: DerivedRunData): CoveringTree {
  const { counts } = report
  const usage = latestOf(report, 'usageByModel') ?? []
  const hasCost = costOf(report, derived) !== undefined
  const hasTokens = tokensOf(report) !== undefined
  const modelsHaveCost = hasCost || usage.some(({ cost }) => cost !== undefined)
  const modelsReport = (name: string): boolean =>
    Object.hasOwn(counts, name) || usage.some((share) => Object.hasOwn(share.counts, name))
  const uncoverSpend = (spend: Spend): Spend => ({
    runs: spend.runs,
    tokens: hasTokens ? 0 : spend.tokens,
    cost: hasCost ? EMPTY : spend.cost,
    unpricedRuns: hasCost ? 0 : spend.unpricedRuns,
    unpricedTokens: hasCost || hasTokens ? 0 : spend.unpricedTokens,
  })
  return {
    uncoverSpend,
    uncoverPriced(spend) {
      const left = uncoverSpend(spend)
      if (hasCost || !hasTokens) return left
      return { ...left, unpricedTokens: spend.unpricedTokens - spend.tokens }
    },
    uncover: ({ spend, models, byStatus, time, durations, firstTokens, users, ...descendants }) => ({
      spend: uncoverSpend(spend),
      byStatus,
      counts: without(descendants.counts, (name) => Object.hasOwn(counts, name)),
      models: mapModels(models, (share) => ({
        runs: share.runs,
        counts: without(share.counts, modelsReport),
        cost: modelsHaveCost ? EMPTY : share.cost,
      })),
      time,
      durations,
      firstTokens,
      users,
    }),
  }
}

function without(counts: Readonly<Record<string, number>>, isReported: (name: string) => boolean): typeof counts {
  const left = dictionary<number>()
  for (const name in counts) if (!isReported(name)) left[name] = counts[name] as number
  return left
}
