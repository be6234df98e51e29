import { addDecimals } from '../../model/decimal.ts'
import type { Warning } from '../../model/dispatch.ts'
import type { DerivedRunData, ModelUsage, RunCost, RunCounts, RunState, RunUpdate } from '../../model/run.ts'
import type { Price, PriceBook } from '../../ports/price-book.ts'
import type { StoredRun } from '../../ports/run-store.ts'
import { askPrice } from './ask-price.ts'
import type { MergeRules } from './merge/merge-rules.ts'
import { isFinal } from './merge/run-status.ts'
import { costOf, latestOf } from './merge/selectors.ts'

/** What a run cost, as it was worked out here. */
export interface Priced {
  readonly cost: RunCost
  /** Of each model in `usageByModel`, in their order, where the cost is the sum of theirs. */
  readonly shares?: readonly RunCost[]
}

/**
 * What a run cost, by the price book: what it was when it was recorded, until a post changes what it is worked out from.
 * `undefined`: there is no price for all of it, or its posts tell a cost of their own.
 */
export function priceRun(run: StoredRun | undefined, state: RunState, rules: MergeRules): Priced | undefined {
  if (latestOf(state, 'cost') !== undefined) return undefined
  if (run !== undefined && isUsedAlike(run.state, state)) return pricedBefore(run.derived)
  const byModel = latestOf(state, 'usageByModel')
  if (rules.prices === undefined && byModel === undefined) return undefined
  const terms: Terms = { prices: rules.prices, tenant: rules.tenant, at: usedAt(run, state, rules.now) }
  if (byModel !== undefined && byModel.length > 0) return priceOfModels(byModel, state.counts, terms)
  const price = priceOfWhole(state, terms)
  return price && { cost: localCost(price.amount, price.currency, price.version) }
}

function pricedBefore({ cost, shares }: DerivedRunData): Priced | undefined {
  return cost && (shares ? { cost, shares } : { cost })
}

/** Whether two states of a run agree in all that a cost is worked out from. A merge leaves the parts that it does not change. */
function isUsedAlike(before: RunState, after: RunState): boolean {
  return (
    before.counts === after.counts &&
    before.earliest.startedAt === after.earliest.startedAt &&
    before.earliest.queuedAt === after.earliest.queuedAt &&
    latestOf(before, 'provider') === latestOf(after, 'provider') &&
    latestOf(before, 'model') === latestOf(after, 'model') &&
    latestOf(before, 'responseModel') === latestOf(after, 'responseModel') &&
    latestOf(before, 'usageByModel') === latestOf(after, 'usageByModel')
  )
}

function usedAt(run: StoredRun | undefined, { earliest }: RunState, now: number): number {
  return earliest.startedAt ?? earliest.queuedAt ?? run?.createdAt ?? now
}

/** What all prices of one run are asked with. */
interface Terms {
  readonly prices: PriceBook | undefined
  readonly tenant: string
  readonly at: number
}

/** The model that answered is the one that is charged; a book may know it by the name that was asked for. */
function priceOfWhole(state: RunState, terms: Terms): Price | undefined {
  const provider = latestOf(state, 'provider')
  const asked = latestOf(state, 'model')
  const answered = latestOf(state, 'responseModel')
  const price = priceOf(provider, answered, state.counts, terms)
  return price === undefined && asked !== answered ? priceOf(provider, asked, state.counts, terms) : price
}

function priceOf(
  provider: string | undefined,
  model: string | undefined,
  counts: RunCounts,
  { prices, tenant, at }: Terms,
): Price | undefined {
  if (prices === undefined || model === undefined || !reportsTokens(counts)) return undefined
  return askPrice(
    prices,
    provider === undefined ? { tenant, model, counts, at } : { tenant, provider, model, counts, at },
  )
}

/** The sum over models: of what is told of them, and where nothing is, of what the book says. */
function priceOfModels(byModel: readonly ModelUsage[], whole: RunCounts, terms: Terms): Priced | undefined {
  if (isLess(byModel, whole, 'inputTokens') || isLess(byModel, whole, 'outputTokens')) return undefined
  const shares: RunCost[] = []
  for (const usage of byModel) {
    const share = usage.cost ?? costOfShare(usage, terms)
    if (share === undefined || (shares[0] && share.currency !== shares[0].currency)) return undefined
    shares.push(share)
  }
  const amount = shares.reduce((sum, share) => addDecimals(sum, share.amount), '0')
  const versions = new Set(shares.flatMap((share, index) => (byModel[index]?.cost ? [] : (share.pricingVersion ?? []))))
  const version = versions.size === 0 ? undefined : [...versions].sort().join(' ')
  return shares[0] && { cost: localCost(amount, shares[0].currency, version), shares }
}

function costOfShare({ provider, model, counts }: ModelUsage, terms: Terms): RunCost | undefined {
  const price = priceOf(provider, model, counts, terms)
  return price && localCost(price.amount, price.currency, price.version)
}

/** Whether models tell of fewer tokens than the run: some of it is nobody's, as when the models were told earlier. */
function isLess(byModel: readonly ModelUsage[], whole: RunCounts, name: 'inputTokens' | 'outputTokens'): boolean {
  let sum = 0
  for (const { counts } of byModel) sum += counts[name] ?? Number.POSITIVE_INFINITY
  return sum < (whole[name] ?? 0)
}

function localCost(amount: string, currency: string, version: string | undefined): RunCost {
  const source = 'local'
  return version === undefined ? { amount, currency, source } : { amount, currency, source, pricingVersion: version }
}

function reportsTokens({ inputTokens, outputTokens, totalTokens }: RunCounts): boolean {
  return inputTokens !== undefined || outputTokens !== undefined || totalTokens !== undefined
}

const UNPRICED: Warning = {
  code: 'unpriced',
  pointer: '/run',
  detail: 'has no cost: a model of it has no price, or its counts do not tell all that is priced',
}
const NONE: readonly Warning[] = Object.freeze([])

/** The warning for the end of a run that tells of tokens and has no cost, although there is a price book. */
export function unpricedEnd({ status }: RunUpdate, run: StoredRun, prices: PriceBook | undefined): readonly Warning[] {
  if (prices === undefined || status === undefined || !isFinal(status)) return NONE
  const { state, derived } = run
  if (costOf(state, derived) !== undefined) return NONE
  const isUsed = isSome(state.counts) || latestOf(state, 'usageByModel')?.some(({ counts }) => isSome(counts))
  return isUsed ? [UNPRICED] : NONE
}

function isSome({ inputTokens = 0, outputTokens = 0, totalTokens = 0 }: RunCounts): boolean {
  return inputTokens > 0 || outputTokens > 0 || totalTokens > 0
}
