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
import { STANDARD_TIER, tierNamed } from '../../../model/service-tier.ts'
import { meteringSource, shownReport } from '../../../model/shown-run.ts'
import { describeThrown } from '../../../model/thrown.ts'
import { wrongReturn } from '../../../options/wrong-return.ts'
import type { Price, PriceBook, PricedUsage, UnpricedPart } from '../../../ports/price-book.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { USAGE_COUNTS } from '../../../usage/counts.ts'
import { costOf, isInDoubt, isPricedByAgent, latestOf } from './selectors.ts'

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
  const priced = priceReport(report, { ...terms, now: beganAt(state) ?? run?.createdAt ?? terms.now })
  return isPriced(priced) ? priced : undefined
}

/** The warning for a run, or for the model at an index of its `usageByModel`. */
type Missing = UnpricedPart & { readonly index?: number }

/** @param terms `now` is the time of use. */
function priceReport(report: RunReport, { tenant, prices, now: at }: PricingTerms): Priced | Missing | undefined {
  const byModel = latestOf(report, 'usageByModel')
  if (prices === undefined && byModel === undefined) return undefined
  if (isInDoubt(report)) return IN_DOUBT
  const runTier = latestOf(report, 'serviceTier') ?? STANDARD_TIER
  const costFor: CostOfUsage = ({ provider, model, counts, serviceTier = runTier }) => {
    if (prices === undefined || model === undefined || !isUsed(counts, isKnown)) return undefined
    const tier = tierNamed(serviceTier)
    const usage: PricedUsage = {
      tenant,
      ...(provider !== undefined && { provider }),
      model,
      ...(tier !== STANDARD_TIER && { serviceTier: tier }),
      counts,
      at,
    }
    return askPrice(prices, usage)
  }
  if (byModel !== undefined && byModel.length > 0) return priceModels(byModel, report.counts, costFor)
  const cost = priceWhole(report, costFor)
  return isCost(cost) ? { cost } : cost
}

const IN_DOUBT: Missing = { unpriced: 'usage', reason: 'has counts that may be wrong' }

type CostOfUsage = (usage: {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly serviceTier?: string
  readonly counts: RunCounts
}) => RunCost | UnpricedPart | undefined

function isPriced(priced: Priced | Missing | undefined): priced is Priced {
  return priced !== undefined && 'cost' in priced
}

function isCost(cost: RunCost | UnpricedPart | undefined): cost is RunCost {
  return cost !== undefined && 'amount' in cost
}

/** The time that decides the price: of the source that metered the run. */
function beganAt(state: RunState): number | undefined {
  const { startedAt, queuedAt } = state[meteringSource(state)]?.earliest ?? {}
  return startedAt ?? queuedAt
}

const PRICED = ['provider', 'model', 'responseModel', 'usageByModel', 'usageDoubt', 'serviceTier'] as const

/** True for equal inputs of the cost. A merge keeps the identity of parts that it does not change. */
function hasSameUsage(before: RunState, after: RunState): boolean {
  const [one, other] = [shownReport(before), shownReport(after)]
  const isSame =
    one.counts === other.counts &&
    one.clearCounts === other.clearCounts &&
    PRICED.every((path) => one.latest[path] === other.latest[path])
  return isSame && beganAt(before) === beganAt(after)
}

/** Prices the model that answered; if the book does not have it, the requested model. */
function priceWhole(report: RunReport, costFor: CostOfUsage): RunCost | UnpricedPart | undefined {
  const { counts } = report
  const provider = latestOf(report, 'provider')
  const asked = latestOf(report, 'model')
  const answered = latestOf(report, 'responseModel')
  const cost = costFor({ provider, model: answered, counts })
  return cost === undefined && asked !== answered ? costFor({ provider, model: asked, counts }) : cost
}

/** Sums the costs of all models: the posted cost of a model, or else its price in the book. */
function priceModels(
  byModel: readonly ModelUsage[],
  whole: RunCounts,
  costFor: CostOfUsage,
): Priced | Missing | undefined {
  const left = countOfNoModel(byModel, whole)
  if (left !== undefined) return { unpriced: left, reason: 'belongs to no model of usageByModel in full' }
  const shares: RunCost[] = []
  const versions = new Set<string>()
  for (const [index, usage] of byModel.entries()) {
    const share = usage.cost ?? costFor(usage)
    if (!isCost(share)) return share && { ...share, index }
    if (shares[0] && share.currency !== shares[0].currency) return undefined
    shares.push(share)
    if (usage.cost === undefined && share.pricingVersion !== undefined) versions.add(share.pricingVersion)
  }
  const amount = shares.reduce((sum, share) => addDecimals(sum, share.amount), '0')
  const version = versions.size === 0 ? undefined : [...versions].sort().join(' ')
  return shares[0] && { cost: localCost(amount, shares[0].currency, version), shares }
}

/**
 * The first count of the run that its models have less of: some usage belongs to no model. A part of the input or output counts
 * only where a model without a cost does not state it, because it would be priced as something else.
 */
function countOfNoModel(byModel: readonly ModelUsage[], whole: RunCounts): string | undefined {
  return USAGE_COUNTS.find((name) => {
    const isPart = name !== 'inputTokens' && name !== 'outputTokens'
    if (isPart && (name === 'totalTokens' || byModel.every(({ counts, cost }) => cost ?? counts[name] !== undefined)))
      return false
    let sum = 0
    for (const { counts } of byModel) sum += counts[name] ?? (isPart ? 0 : Number.POSITIVE_INFINITY)
    return sum < (whole[name] ?? 0)
  })
}

function localCost(amount: string, currency: string, version: string | undefined): RunCost {
  const source = 'local'
  return version === undefined ? { amount, currency, source } : { amount, currency, source, pricingVersion: version }
}

/** Counts without which there is nothing to price. */
const PRICEABLE = ['inputTokens', 'outputTokens', 'totalTokens', 'billedSearches', 'billedSeconds', 'billedCharacters']

function isUsed(counts: RunCounts, fits: (count: number | undefined) => boolean): boolean {
  return PRICEABLE.some((name) => fits(counts[name]))
}

const isKnown = (count: number | undefined): boolean => count !== undefined
const isSome = (count = 0): boolean => count > 0

const CURRENCY = /^[A-Z]{3}$/
const VERSION = /^[!-~]{1,100}$/
const PART = /^[a-z][A-Za-z0-9_]{0,63}$/

/** The price book may be host code: validates its result. */
function askPrice(prices: PriceBook, usage: PricedUsage): RunCost | UnpricedPart | undefined {
  let price: unknown
  try {
    price = prices.price(usage)
  } catch (cause) {
    throw new SallyportError('option_invalid', `The price book threw: ${describeThrown(cause).cause}`, [], { cause })
  }
  if (price === undefined) return undefined
  const { unpriced, reason, amount, currency, version } = Object(price) as Readonly<
    Record<keyof Price | keyof UnpricedPart, unknown>
  >
  if (unpriced === undefined && amount === undefined) throw wrongReturn('price() of the price book', price, PRICE)
  if (unpriced !== undefined) {
    if (typeof unpriced !== 'string' || !PART.test(unpriced))
      throw invalidPrice('unpriced', 'must be model, provider, serviceTier or the name of a count')
    if (typeof reason !== 'string' || reason.length < 1 || reason.length > 200)
      throw invalidPrice('reason', 'must be 1 to 200 characters')
    return { unpriced, reason }
  }
  const decimal = typeof amount === 'string' ? canonicalDecimal(amount) : undefined
  if (decimal === undefined || decimal.startsWith('-'))
    throw invalidPrice('amount', 'must be a string of at most 40 digits, 0 or more, without an exponent')
  if (typeof currency !== 'string' || !CURRENCY.test(currency))
    throw invalidPrice('currency', 'must be an ISO 4217 code')
  if (typeof version !== 'string' || !VERSION.test(version))
    throw invalidPrice('version', 'must be 1 to 100 visible ASCII characters')
  return localCost(decimal, currency, version)
}

const PRICE = '{ amount, currency, version }, { unpriced, reason }, or undefined if the model is unknown'

function invalidPrice(field: string, detail: string): SallyportError {
  return new SallyportError('option_invalid', 'The price book gave an invalid price', [{ field, detail }])
}

const UNPRICED: Warning = {
  code: 'unpriced',
  pointer: '/run',
  detail: 'has no cost: one of its models has no price, or its counts lack one that is priced',
}
const NONE: readonly Warning[] = Object.freeze([])

/**
 * Warns when a run ends with usage but without a cost, although there is a price book. An agent is told of its own report.
 *
 * @param terms `now` is the time of a run whose start is unknown.
 */
export function unpricedEnd(
  { status }: RunUpdate,
  { state, derived, createdAt }: StoredRun,
  source: RunSource,
  terms: Pick<PricingTerms, 'tenant' | 'prices'>,
): readonly Warning[] {
  if (terms.prices === undefined || status === undefined || !isFinal(status)) return NONE
  const report = source === 'agent' ? state.agent : shownReport(state)
  const isHidden = source === 'agent' && !isPricedByAgent(state)
  if (report === undefined || isHidden || costOf(report, derived) !== undefined) return NONE
  const hasUsage =
    isUsed(report.counts, isSome) || latestOf(report, 'usageByModel')?.some(({ counts }) => isUsed(counts, isSome))
  if (!hasUsage) return NONE
  const missing = priceReport(report, { ...terms, now: beganAt(state) ?? createdAt })
  return [missing === undefined || isPriced(missing) ? UNPRICED : unpricedPart(missing)]
}

function unpricedPart({ unpriced, reason, index }: Missing): Warning {
  const field = NO_COUNTS.includes(unpriced) ? unpriced : `counts/${unpriced}`
  const place = index === undefined ? '/run' : `/run/usageByModel/${index}`
  return { code: 'unpriced_part', pointer: `${place}/${field}`, detail: `${reason}, so that the run has no cost` }
}

const NO_COUNTS: readonly string[] = ['model', 'provider', 'serviceTier', 'usage']
