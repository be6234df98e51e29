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
  readonly tariffs: readonly Tariff[]
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
  const { model, provider, from, until, currency = book.currency, version = book.version, tiers = [] } = given
  return {
    pattern: readPattern(model) as ModelPattern,
    ...(provider !== undefined && { provider }),
    from: readPriceInstant(from) ?? Number.NEGATIVE_INFINITY,
    until: readPriceInstant(until) ?? Number.POSITIVE_INFINITY,
    currency,
    version,
    tariffs: [
      ...tiers.toReversed().map((tier) => readTariff(tier.aboveInputTokens, tier, book.exponent)),
      readTariff(ANY_SIZE, given, book.exponent),
    ],
  }
}

function readTariff(above: number, prices: TokenPrices, exponent: number): Tariff {
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = prices
  const read = (price: string | number): string => readPrice(price) as string
  const rates = {
    input: read(input),
    cacheRead: read(cacheRead),
    cacheWrite: read(cacheWrite),
    output: read(output),
    reasoning: read(reasoning),
  }
  return tariffOf(above, rates, exponent)
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

/** Prices for calls of one size, as integers of one scale: an amount is a sum of products. */
interface Tariff {
  /** For calls with more input tokens. */
  readonly aboveInputTokens: number
  /** In the order of {@link RATES}. */
  readonly rates: readonly bigint[]
  /** The same as numbers, which are faster. */
  readonly quick: readonly number[]
  /** Decimal places of a sum. */
  readonly places: number
  readonly isInputFree: boolean
  readonly isOutputFree: boolean
}

/** Kinds of tokens with a price. */
const RATES = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const

/** A decimal for each of {@link RATES}. */
type Rates = Readonly<Record<(typeof RATES)[number], string>>

/** Makes a tariff from prices for 10 to the power of `exponent` tokens. */
function tariffOf(aboveInputTokens: number, prices: Rates, exponent: number): Tariff {
  const decimals = RATES.map((name) => prices[name])
  const places = Math.max(...decimals.map(decimalPlaces))
  const rates = decimals.map((decimal) => scaleDecimal(decimal, places))
  const [input, cacheRead, cacheWrite, output, reasoning] = rates
  return {
    aboveInputTokens,
    rates,
    quick: rates.map(Number),
    places: places + exponent,
    isInputFree: input === 0n && cacheRead === 0n && cacheWrite === 0n,
    isOutputFree: output === 0n && reasoning === 0n,
  }
}

/**
 * The cost of tokens by the first tariff for calls of their size, as an exact decimal. `undefined` if a count with a price is absent,
 * or a part is greater than the count that includes it.
 */
export function amountOf(counts: RunCounts, tariffs: readonly Tariff[]): string | undefined {
  const tariff = tariffFor(counts, tariffs)
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = counts
  const inputTokens = counts.inputTokens ?? (tariff?.isInputFree ? cacheReadTokens + cacheWriteTokens : undefined)
  const outputTokens = counts.outputTokens ?? (tariff?.isOutputFree ? reasoningTokens : undefined)
  if (tariff === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  const tokens = [
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
    sum += count * (tariff.quick[kind] as number)
  }
  // No term is negative: if the sum is a safe integer, so were all terms.
  return writeScaled(Number.isSafeInteger(sum) ? sum : exactSum(tokens, tariff.rates), tariff.places)
}

function tariffFor({ inputTokens = 0, modelCalls = 1 }: RunCounts, tariffs: readonly Tariff[]): Tariff | undefined {
  const calls = Math.max(modelCalls, 1)
  // A product that is too great to be exact exceeds every count.
  for (const tariff of tariffs) if (inputTokens > tariff.aboveInputTokens * calls) return tariff
  return undefined
}

function exactSum(tokens: readonly number[], rates: readonly bigint[]): bigint {
  return rates.reduce((sum, rate, kind) => sum + rate * BigInt(tokens[kind] as number), 0n)
}
