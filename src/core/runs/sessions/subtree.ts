import { dictionary, EMPTY } from '../../../model/sums.ts'
import { addTotals, type ModelTotals, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import { costOf, latestOf } from '../merge/selectors.ts'
import { type TalliedRun, tokensOf, totalsOfRun } from './run-totals.ts'

/** What a run comes to with all that is below it, nothing counted twice. */
export function totalsOfSubtree(run: TalliedRun, descendants: Totals | undefined): Totals {
  const own = totalsOfRun(run)
  if (descendants === undefined) return ownedBy(run, own, EMPTY)
  const sum = noTotals()
  addTotals(sum, own)
  addTotals(sum, uncovered(run, descendants))
  return ownedBy(run, sum, descendants.users)
}

/** By how much a run with all below it changes, when what is below it changes by so much. */
export function passUp(run: TalliedRun, change: Totals): Totals {
  return ownedBy(run, uncovered(run, change), change.users)
}

/** Whether what is below a run comes to the same with the one as with the other. */
export function countAlike(a: TalliedRun, b: TalliedRun): boolean {
  return !isTree(a) && !isTree(b) && latestOf(a.state, 'userId') === latestOf(b.state, 'userId')
}

export function withUsers(totals: Totals, users: Totals['users']): Totals {
  if (users === totals.users) return totals
  const { spend, byStatus, counts, models, time, durations, firstTokens } = totals
  return { spend, byStatus, counts, models, time, durations, firstTokens, users }
}

/** A run that names a user has spent it all for that one; otherwise it is whose it was. */
function ownedBy({ state }: TalliedRun, totals: Totals, others: Totals['users']): Totals {
  const userId = latestOf(state, 'userId')
  return withUsers(totals, userId === undefined ? others : { [userId]: totals.spend })
}

function isTree({ state }: TalliedRun): boolean {
  return latestOf(state, 'countsScope') === 'tree'
}

/**
 * What is left of a tally below a run that tells for its whole tree: what the run tells itself stands for what is told below
 * it. How many runs there were, how they ended and what time they took is each run's own.
 */
function uncovered(run: TalliedRun, descendants: Totals): Totals {
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
    models: eachModel(descendants.models, (share) => ({
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
 * Tokens that were told for the whole tree are in its cost, or unpriced with it: all but those that have a price below. What is
 * taken away for these may be more than there was.
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

function eachModel(models: Totals['models'], change: (share: ModelTotals) => ModelTotals): Totals['models'] {
  const changed: Record<string, Record<string, ModelTotals>> = dictionary()
  for (const provider in models) {
    const ofProvider = dictionary<ModelTotals>()
    for (const model in models[provider]) ofProvider[model] = change(models[provider][model] as ModelTotals)
    changed[provider] = ofProvider
  }
  return changed
}
