import { SallyportError } from '../../../errors.ts'
import { addDecimals, canonicalDecimal } from '../../../model/decimal.ts'
import type { Warning } from '../../../model/dispatch.ts'
import type {
  DerivedRunData,
  ModelUsage,
  RunCost,
  RunCounts,
  RunReport,
  RunSource,
  RunState,
  RunUpdate,
} from '../../../model/run.ts'
import { isFinal } from '../../../model/run-status.ts'
import { meteringSource, shownReport } from '../../../model/shown-run.ts'
import { describeThrown } from '../../../model/thrown.ts'
import type { Price, PriceBook, PricedUsage } from '../../../ports/price-book.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { costOf, isPricedByAgent, latestOf } from './selectors.ts'

export type Priced = Required<Pick<DerivedRunData, 'cost'>> & Pick<DerivedRunData, 'shares'>

export interface PricingTerms {
  readonly tenant: string
  readonly now: number
  readonly prices?: PriceBook | undefined
}

/**
 * Calculates the cost of a run with the price book. The first result stays until a post changes its inputs. `undefined`: some part
 * has no price, or the run's posts state a cost.
 *
 * @throws {SallyportError} `option_invalid`: the price book threw, or returned an invalid price.
 */
export function priceRun(run: StoredRun | undefined, state: RunState, terms: PricingTerms): Priced | undefined {
  const report = shownReport(state)
  if (latestOf(report, 'cost') !== undefined) return undefined
  if (run !== undefined && hasSameUsage(run.state, state)) {
    const { cost, shares } = run.derived
    return cost && (shares ? { cost, shares } : { cost })
  }
  const { prices, tenant, now } = terms
  const byModel = latestOf(report, 'usageByModel')
  if (prices === undefined && byModel === undefined) return undefined
  const at = beganAt(state) ?? run?.createdAt ?? now
  const costFor: CostOfUsage = (provider, model, counts) => {
    if (prices === undefined || model === undefined || !hasTokenCounts(counts)) return undefined
    const usage = { tenant, model, counts, at }
    const price = askPrice(prices, provider === undefined ? usage : { ...usage, provider })
    return price && localCost(price.amount, price.currency, price.version)
  }
  if (byModel !== undefined && byModel.length > 0) return priceModels(byModel, report.counts, costFor)
  const cost = priceWhole(report, costFor)
  return cost && { cost }
}

type CostOfUsage = (provider: string | undefined, model: string | undefined, counts: RunCounts) => RunCost | undefined

/** The time that decides the price: of the source that metered the run. */
function beganAt(state: RunState): number | undefined {
  const { startedAt, queuedAt } = state[meteringSource(state)]?.earliest ?? {}
  return startedAt ?? queuedAt
}

const PRICED = ['provider', 'model', 'responseModel', 'usageByModel'] as const

/** True for equal inputs of the cost. A merge keeps the identity of parts that it does not change. */
function hasSameUsage(before: RunState, after: RunState): boolean {
  const [one, other] = [shownReport(before), shownReport(after)]
  const isSame = one.counts === other.counts && PRICED.every((path) => one.latest[path] === other.latest[path])
  return isSame && beganAt(before) === beganAt(after)
}

/** Prices the model that answered; if the book does not have it, the requested model. */
function priceWhole(report: RunReport, costFor: CostOfUsage): RunCost | undefined {
  const provider = latestOf(report, 'provider')
  const asked = latestOf(report, 'model')
  const answered = latestOf(report, 'responseModel')
  const cost = costFor(provider, answered, report.counts)
  return cost === undefined && asked !== answered ? costFor(provider, asked, report.counts) : cost
}

/** Sums the costs of all models: the posted cost of a model, or else its price in the book. */
function priceModels(byModel: readonly ModelUsage[], whole: RunCounts, costFor: CostOfUsage): Priced | undefined {
  if (isLess(byModel, whole, 'inputTokens') || isLess(byModel, whole, 'outputTokens')) return undefined
  const shares: RunCost[] = []
  const versions = new Set<string>()
  for (const { provider, model, counts, cost } of byModel) {
    const share = cost ?? costFor(provider, model, counts)
    if (share === undefined || (shares[0] && share.currency !== shares[0].currency)) return undefined
    shares.push(share)
    if (cost === undefined && share.pricingVersion !== undefined) versions.add(share.pricingVersion)
  }
  const amount = shares.reduce((sum, share) => addDecimals(sum, share.amount), '0')
  const version = versions.size === 0 ? undefined : [...versions].sort().join(' ')
  return shares[0] && { cost: localCost(amount, shares[0].currency, version), shares }
}

/** True if the models have fewer tokens than the run: some usage belongs to no model. */
function isLess(byModel: readonly ModelUsage[], whole: RunCounts, name: 'inputTokens' | 'outputTokens'): boolean {
  let sum = 0
  for (const { counts } of byModel) sum += counts[name] ?? Number.POSITIVE_INFINITY
  return sum < (whole[name] ?? 0)
}

function localCost(amount: string, currency: string, version: string | undefined): RunCost {
  const source = 'local'
  return version === undefined ? { amount, currency, source } : { amount, currency, source, pricingVersion: version }
}

function hasTokenCounts({ inputTokens, outputTokens, totalTokens }: RunCounts): boolean {
  return inputTokens !== undefined || outputTokens !== undefined || totalTokens !== undefined
}

const CURRENCY = /^[A-Z]{3}$/
const VERSION = /^[!-~]{1,100}$/

/** The price book may be host code: validates its result. */
function askPrice(prices: PriceBook, usage: PricedUsage): Price | undefined {
  let price: unknown
  try {
    price = prices.price(usage)
  } catch (cause) {
    throw new SallyportError('option_invalid', `The price book threw: ${describeThrown(cause).cause}`, [], { cause })
  }
  if (price === undefined) return undefined
  const { amount, currency, version } = (price ?? {}) as Readonly<Record<keyof Price, unknown>>
  const decimal = typeof amount === 'string' ? canonicalDecimal(amount) : undefined
  if (decimal === undefined || decimal.startsWith('-'))
    throw invalidPrice('amount', 'must be a string of at most 40 digits, 0 or more, without an exponent')
  if (typeof currency !== 'string' || !CURRENCY.test(currency))
    throw invalidPrice('currency', 'must be an ISO 4217 code')
  if (typeof version !== 'string' || !VERSION.test(version))
    throw invalidPrice('version', 'must be 1 to 100 visible ASCII characters')
  return { amount: decimal, currency, version }
}

function invalidPrice(field: string, detail: string): SallyportError {
  return new SallyportError('option_invalid', 'The price book gave an invalid price', [{ field, detail }])
}

const UNPRICED: Warning = {
  code: 'unpriced',
  pointer: '/run',
  detail: 'has no cost: one of its models has no price, or its counts lack one that is priced',
}
const NONE: readonly Warning[] = Object.freeze([])

/** Warns when a run ends with tokens but without a cost, although there is a price book. An agent is told of its own report. */
export function unpricedEnd(
  { status }: RunUpdate,
  { state, derived }: StoredRun,
  source: RunSource,
  prices: PriceBook | undefined,
): readonly Warning[] {
  if (prices === undefined || status === undefined || !isFinal(status)) return NONE
  const report = source === 'agent' ? state.agent : shownReport(state)
  const isHidden = source === 'agent' && !isPricedByAgent(state)
  if (report === undefined || isHidden || costOf(report, derived) !== undefined) return NONE
  const isUsed = hasTokens(report.counts) || latestOf(report, 'usageByModel')?.some(({ counts }) => hasTokens(counts))
  return isUsed ? [UNPRICED] : NONE
}

function hasTokens({ inputTokens = 0, outputTokens = 0, totalTokens = 0 }: RunCounts): boolean {
  return inputTokens > 0 || outputTokens > 0 || totalTokens > 0
}
