import { dictionary, EMPTY } from '../../../model/sums.ts'
import { addTally, type ModelTally, noTally, type Spend, type Tally } from '../../../model/tally.ts'
import { costOf, latestOf } from '../merge/selectors.ts'
import { type TalliedRun, tallyRun, tokensOf } from './run-totals.ts'

/** What a run comes to with all that is below it, nothing counted twice. */
export function tallySubtree(run: TalliedRun, below: Tally | undefined): Tally {
  const own = tallyRun(run)
  if (below === undefined) return ownedBy(run, own, EMPTY)
  const sum = noTally()
  addTally(sum, own)
  addTally(sum, uncovered(run, below))
  return ownedBy(run, sum, below.users)
}

/** By how much a run with all below it changes, when what is below it changes by so much. */
export function passUp(run: TalliedRun, change: Tally): Tally {
  return ownedBy(run, uncovered(run, change), change.users)
}

/** Whether what is below a run comes to the same with the one as with the other. */
export function countAlike(a: TalliedRun, b: TalliedRun): boolean {
  return !isTree(a) && !isTree(b) && latestOf(a.state, 'userId') === latestOf(b.state, 'userId')
}

export function withUsers(tally: Tally, users: Tally['users']): Tally {
  if (users === tally.users) return tally
  const { spend, byStatus, counts, models, time, durations, firstTokens } = tally
  return { spend, byStatus, counts, models, time, durations, firstTokens, users }
}

/** A run that names a user has spent it all for that one; otherwise it is whose it was. */
function ownedBy({ state }: TalliedRun, tally: Tally, others: Tally['users']): Tally {
  const userId = latestOf(state, 'userId')
  return withUsers(tally, userId === undefined ? others : { [userId]: tally.spend })
}

function isTree({ state }: TalliedRun): boolean {
  return latestOf(state, 'countsScope') === 'tree'
}

/**
 * What is left of a tally below a run that tells for its whole tree: what the run tells itself stands for what is told below
 * it. How many runs there were, how they ended and what time they took is each run's own.
 */
function uncovered(run: TalliedRun, below: Tally): Tally {
  if (!isTree(run)) return below
  const { counts } = run.state
  const usage = latestOf(run.state, 'usageByModel') ?? []
  const hasCost = costOf(run.state, run.account) !== undefined
  const modelsHaveCost = hasCost || usage.some(({ cost }) => cost !== undefined)
  const modelsTell = (name: string): boolean =>
    Object.hasOwn(counts, name) || usage.some((share) => Object.hasOwn(share.counts, name))
  const { byStatus, time, durations, firstTokens, users } = below
  return {
    spend: uncoveredSpend(below.spend, tokensOf(run.state) !== undefined, hasCost),
    byStatus,
    counts: without(below.counts, (name) => Object.hasOwn(counts, name)),
    models: eachModel(below.models, (share) => ({
      runs: share.runs,
      counts: without(share.counts, modelsTell),
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

function without(counts: Readonly<Record<string, number>>, isTold: (name: string) => boolean): typeof counts {
  const left = dictionary<number>()
  for (const name in counts) if (!isTold(name)) left[name] = counts[name] as number
  return left
}

function eachModel(models: Tally['models'], change: (share: ModelTally) => ModelTally): Tally['models'] {
  const changed: Record<string, Record<string, ModelTally>> = dictionary()
  for (const provider in models) {
    const ofProvider = dictionary<ModelTally>()
    for (const model in models[provider]) ofProvider[model] = change(models[provider][model] as ModelTally)
    changed[provider] = ofProvider
  }
  return changed
}
