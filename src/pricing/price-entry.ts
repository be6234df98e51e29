import { decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import type { RunCounts } from '../model/run.ts'
import { comparePatterns, type ModelPattern, patternsMeet, readPattern } from './model-pattern.ts'
import { type ModelPrices, readPrice, readPriceInstant, type TokenPrices } from './price-book-options.ts'

/** The parsed prices of a model. */
export interface PriceEntry {
  readonly pattern: ModelPattern
  /** Absent: any. */
  readonly provider?: string
  /** Epoch milliseconds. */
  readonly from: number
  /** The first instant at which it does not hold, epoch milliseconds. */
  readonly until: number
  readonly currency: string
  readonly version: string
  /** Longest prompts first; the last is for any prompt. */
  readonly tiers: readonly Tier[]
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
export function readEntry(given: ModelPrices, book: BookDefaults): PriceEntry {
  const {
    model,
    provider,
    from,
    until,
    currency = book.currency,
    version = book.version,
    tiers: longPrompts = [],
  } = given
  return {
    pattern: readPattern(model) as ModelPattern,
    ...(provider !== undefined && { provider }),
    from: readPriceInstant(from) ?? Number.NEGATIVE_INFINITY,
    until: readPriceInstant(until) ?? Number.POSITIVE_INFINITY,
    currency,
    version,
    tiers: [
      ...longPrompts.toReversed().map((tier) => readTier(tier.aboveInputTokens, tier, book.exponent)),
      readTier(ANY_SIZE, given, book.exponent),
    ],
  }
}

/** Sorts the more specific entry first. */
export function compareEntries(a: PriceEntry, b: PriceEntry): number {
  return comparePatterns(a.pattern, b.pattern) || Number(a.provider === undefined) - Number(b.provider === undefined)
}

/** Whether a run can match both entries, and neither is more specific. */
export function entriesTie(a: PriceEntry, b: PriceEntry): boolean {
  const isTogether = a.from < b.until && b.from < a.until
  return isTogether && a.provider === b.provider && compareEntries(a, b) === 0 && patternsMeet(a.pattern, b.pattern)
}

/** Kinds of tokens with a price. */
const TOKEN_KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const

/** A value for each of {@link TOKEN_KINDS}, in their order. */
type PerKind<T, Kinds extends readonly unknown[] = typeof TOKEN_KINDS> = { readonly [At in keyof Kinds]: T }

/** Prices for calls of one size, as integers of one scale: an amount is a sum of products. */
interface Tier {
  /** For calls with more input tokens. */
  readonly aboveInputTokens: number
  readonly prices: PerKind<bigint>
  /** The same as numbers, which are faster. */
  readonly quick: PerKind<number>
  /** Decimal places of a sum. */
  readonly places: number
  readonly isInputFree: boolean
  readonly isOutputFree: boolean
}

/** Reads checked prices for 10 to the power of `exponent` tokens. */
function readTier(aboveInputTokens: number, given: TokenPrices, exponent: number): Tier {
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = given
  const byKind = { input, cacheRead, cacheWrite, output, reasoning }
  const decimals = TOKEN_KINDS.map((kind) => readPrice(byKind[kind]) as string)
  const places = Math.max(...decimals.map(decimalPlaces))
  const scaled = decimals.map((decimal) => scaleDecimal(decimal, places))
  const isFree = (...prices: readonly (string | number)[]): boolean => prices.every((price) => Number(price) === 0)
  return {
    aboveInputTokens,
    prices: scaled as unknown as PerKind<bigint>,
    quick: scaled.map(Number) as unknown as PerKind<number>,
    places: places + exponent,
    isInputFree: isFree(input, cacheRead, cacheWrite),
    isOutputFree: isFree(output, reasoning),
  }
}

/**
 * The cost of tokens by the first tier for calls of their size, as an exact decimal. `undefined` if a count with a price is absent,
 * or a part is greater than the count that includes it.
 */
export function amountOf(counts: RunCounts, tiers: readonly Tier[]): string | undefined {
  const tier = tierFor(counts, tiers)
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts
  const inputTokens = counts.inputTokens ?? (tier?.isInputFree ? cacheReadTokens + cacheWriteTokens : undefined)
  const outputTokens = counts.outputTokens ?? (tier?.isOutputFree ? reasoningTokens : undefined)
  if (tier === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  const tokens: PerKind<number> = [
    inputTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens - reasoningTokens,
    reasoningTokens,
  ]
  let sum = 0
  for (let kind = 0; kind < tokens.length; kind++) {
    const count = tokens[kind] as number
    if (!Number.isSafeInteger(count) || count < 0) return undefined
    sum += count * (tier.quick[kind] as number)
  }
  // No term is negative: if the sum is a safe integer, so were all terms.
  return writeScaled(Number.isSafeInteger(sum) ? sum : exactSum(tokens, tier.prices), tier.places)
}

function tierFor({ inputTokens = 0, modelCalls = 1 }: RunCounts, tiers: readonly Tier[]): Tier | undefined {
  const calls = Math.max(modelCalls, 1)
  // A product that is too great to be exact exceeds every count.
  for (const tier of tiers) if (inputTokens > tier.aboveInputTokens * calls) return tier
  return undefined
}

function exactSum(tokens: PerKind<number>, prices: PerKind<bigint>): bigint {
  return prices.reduce((sum, price, kind) => sum + price * BigInt(tokens[kind] as number), 0n)
}
