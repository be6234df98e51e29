import { addDecimals } from '../../model/decimal.ts'
import type { Warning } from '../../model/dispatch.ts'
import type { ModelUsage, RunCost, RunCounts, RunState, RunUpdate } from '../../model/run.ts'
import type { Price, PriceBook } from '../../ports/price-book.ts'
import type { StoredRun } from '../../ports/run-store.ts'
import { askPrice } from './ask-price.ts'
import type { MergeRules } from './merge-rules.ts'
import { isFinal } from './run-status.ts'
import { costOf, latestOf } from './shown-run.ts'

/**
 * What a run cost, by the price book: what it was when it was recorded, until a post changes what it is worked out from.
 * `undefined`: there is no price for all of it, or its posts tell a cost of their own.
 */
export function priceRun(run: StoredRun | undefined, state: RunState, rules: MergeRules): RunCost | undefined {
  if (latestOf(state, 'cost') !== undefined) return undefined
  if (run !== undefined && isUsedAlike(run.state, state)) return run.account.cost
  if (rules.prices === undefined) return undefined
  const terms: Terms = { prices: rules.prices, tenant: rules.tenant, at: usedAt(run, state, rules.now) }
  const byModel = latestOf(state, 'usageByModel')
  if (byModel !== undefined && byModel.length > 0) return costOfModels(byModel, state.counts, terms)
  const price = priceOfWhole(state, terms)
  return price && localCost(price.amount, price.currency, price.version)
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
  readonly prices: PriceBook
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
  if (model === undefined || !tellsTokens(counts)) return undefined
  return askPrice(
    prices,
    provider === undefined ? { tenant, model, counts, at } : { tenant, provider, model, counts, at },
  )
}

/** The sum over models: of what is told of them, and where nothing is, of what the book says. */
function costOfModels(byModel: readonly ModelUsage[], whole: RunCounts, terms: Terms): RunCost | undefined {
  if (isLess(byModel, whole, 'inputTokens') || isLess(byModel, whole, 'outputTokens')) return undefined
  let sum: string | undefined
  let currency: string | undefined
  const versions = new Set<string>()
  for (const { provider, model, counts, cost } of byModel) {
    const price = cost === undefined ? priceOf(provider, model, counts, terms) : undefined
    const part = cost ?? price
    if (part === undefined || (currency !== undefined && part.currency !== currency)) return undefined
    if (price !== undefined) versions.add(price.version)
    sum = sum === undefined ? part.amount : addDecimals(sum, part.amount)
    currency = part.currency
  }
  if (sum === undefined || currency === undefined) return undefined
  return localCost(sum, currency, versions.size === 0 ? undefined : [...versions].sort().join(' '))
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

function tellsTokens({ inputTokens, outputTokens, totalTokens }: RunCounts): boolean {
  return inputTokens !== undefined || outputTokens !== undefined || totalTokens !== undefined
}

const UNPRICED: Warning = {
  code: 'unpriced',
  pointer: '/run/model',
  detail: 'has no price for all of the tokens of this run, which therefore has no cost',
}
const NONE: readonly Warning[] = Object.freeze([])

/** The warning for the end of a run that tells of tokens and has no cost, although there is a price book. */
export function unpricedEnd({ status }: RunUpdate, run: StoredRun, prices: PriceBook | undefined): readonly Warning[] {
  if (prices === undefined || status === undefined || !isFinal(status)) return NONE
  const { state, account } = run
  if (costOf(state, account) !== undefined) return NONE
  const isUsed = isSome(state.counts) || latestOf(state, 'usageByModel')?.some(({ counts }) => isSome(counts))
  return isUsed ? [UNPRICED] : NONE
}

function isSome({ inputTokens = 0, outputTokens = 0, totalTokens = 0 }: RunCounts): boolean {
  return inputTokens > 0 || outputTokens > 0 || totalTokens > 0
}
