import { STANDARD_TIER } from '../model/service-tier.ts'
import type { Price, PricedUsage, UnpricedPart } from '../ports/price-book.ts'
import { amountOf, readTier, type Tier } from './amount.ts'
import { comparePatterns, type ModelPattern, patternsMeet, readPattern } from './model-pattern.ts'
import { type ModelPrices, readPriceInstant } from './price-book-options.ts'

/** The parsed prices of a model. */
export interface PriceEntry {
  /** In lower case. */
  readonly serviceTier: string
  /** Epoch milliseconds. */
  readonly from: number
  /** The first instant at which it does not hold, epoch milliseconds. */
  readonly until: number
  readonly currency: string
  readonly version: string
  /** Longest prompts first; the last is for any prompt. */
  readonly tiers: readonly Tier[]
  /** Reason why there is no price. */
  readonly unpriced?: string
}

/** Prices for the models of a pattern. */
export interface PatternEntry extends PriceEntry {
  readonly pattern: ModelPattern
  /** Absent: any. */
  readonly provider?: string
}

/** Defaults of a book for its entries. */
export interface BookDefaults {
  readonly currency: string
  readonly version: string
  /** A price is for 10 to the power of this number of tokens. */
  readonly exponent: number
}

/** Less than any prompt. */
const ANY_SIZE = -1

/** Reads a checked entry. */
export function readEntry(given: Omit<ModelPrices, 'model' | 'provider'>, book: BookDefaults): PriceEntry {
  const { serviceTier = STANDARD_TIER, from, until, currency = book.currency, version = book.version, unpriced } = given
  const { tiers: longPrompts = [] } = given
  return {
    serviceTier: serviceTier.toLowerCase(),
    from: readPriceInstant(from) ?? Number.NEGATIVE_INFINITY,
    until: readPriceInstant(until) ?? Number.POSITIVE_INFINITY,
    currency,
    version,
    tiers: [
      ...longPrompts.toReversed().map((tier) => readTier(tier.aboveInputTokens, tier, book.exponent)),
      readTier(ANY_SIZE, given, book.exponent),
    ],
    ...(unpriced !== undefined && { unpriced }),
  }
}

/** Reads a checked entry with its pattern. */
export function readPatternEntry(given: ModelPrices, book: BookDefaults): PatternEntry {
  const { model, provider } = given
  return {
    ...readEntry(given, book),
    pattern: readPattern(model) as ModelPattern,
    ...(provider !== undefined && { provider }),
  }
}

/** Sorts the more specific entry first. */
export function compareEntries(a: PatternEntry, b: PatternEntry): number {
  return comparePatterns(a.pattern, b.pattern) || Number(a.provider === undefined) - Number(b.provider === undefined)
}

/** Whether a run can match both entries, and neither is more specific. Service tiers differ only for one pattern. */
export function entriesTie(a: PatternEntry, b: PatternEntry): boolean {
  const isTogether = a.from < b.until && b.from < a.until
  if (!isTogether || a.provider !== b.provider || compareEntries(a, b) !== 0) return false
  const isSamePattern = a.pattern.prefix === b.pattern.prefix && a.pattern.suffix === b.pattern.suffix
  if (isSamePattern) return a.serviceTier === b.serviceTier
  return patternsMeet(a.pattern, b.pattern)
}

/** Whether two lists of entries have the same prices, for the same service tiers and dates. */
export function samePrices(some: readonly PriceEntry[], others: readonly PriceEntry[]): boolean {
  return pricesText(some) === pricesText(others)
}

function pricesText(entries: readonly PriceEntry[]): string {
  const prices = entries.map(({ serviceTier, from, until, currency, tiers, unpriced }) => [
    serviceTier,
    from,
    until,
    currency,
    tiers,
    unpriced,
  ])
  return JSON.stringify(prices, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Prices a usage by entries of one model that are equally specific. `undefined`: none holds at this time. */
export function priceOf(entries: readonly PriceEntry[], usage: PricedUsage): Price | UnpricedPart | undefined {
  const { counts, at, serviceTier = STANDARD_TIER } = usage
  const held = entries.filter(({ from, until }) => at >= from && at < until)
  const entry = held.find((one) => one.serviceTier === serviceTier)
  if (entry === undefined)
    return held.length > 0 ? { unpriced: 'serviceTier', reason: 'has no prices for this model' } : undefined
  const { tiers, currency, version, unpriced } = entry
  if (unpriced !== undefined) return { unpriced: 'model', reason: unpriced }
  const amount = amountOf(counts, tiers)
  return typeof amount === 'string' ? { amount, currency, version } : amount
}
