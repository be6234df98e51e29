import { decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import type { RunCounts } from '../model/run.ts'
import { comparePatterns, type ModelPattern, patternsMeet, readPattern } from './model-pattern.ts'
import { type ModelPrices, readPrice, readPriceInstant, type TokenPrices } from './price-book-options.ts'

/** The prices of a model, read. */
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
  /** Those for the longest prompts first; the last is for any. */
  readonly tariffs: readonly Tariff[]
}

/** What a book says for all of its entries. */
export interface BookDefaults {
  readonly currency: string
  readonly version: string
  /** A price is for 10 to the power of so many tokens. */
  readonly exponent: number
}

/** Fewer than any prompt has. */
const ANY_SIZE = -1

/** Reads an entry that was checked. */
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

/** Which of two entries is closer to the runs that it is for: below 0 the first. */
export function compareEntries(a: PriceEntry, b: PriceEntry): number {
  return comparePatterns(a.pattern, b.pattern) || Number(a.provider === undefined) - Number(b.provider === undefined)
}

/** Whether there is a run that both are for, and neither is closer to. */
export function entriesTie(a: PriceEntry, b: PriceEntry): boolean {
  const isTogether = a.from < b.until && b.from < a.until
  return isTogether && a.provider === b.provider && compareEntries(a, b) === 0 && patternsMeet(a.pattern, b.pattern)
}

/** What tokens cost in calls of one size, as whole numbers of one scale: an amount is a sum of products. */
interface Tariff {
  /** Holds for calls with more input than that. */
  readonly aboveInputTokens: number
  /** In the order of {@link RATES}. */
  readonly rates: readonly bigint[]
  /** The same as numbers, which are quicker. */
  readonly quick: readonly number[]
  /** How far the point of a sum moves to the left. */
  readonly places: number
  readonly isInputFree: boolean
  readonly isOutputFree: boolean
}

/** The kinds of tokens that have prices of their own. */
const RATES = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const

/** A decimal for each of {@link RATES}. */
type Rates = Readonly<Record<(typeof RATES)[number], string>>

/** Makes a tariff of what 10 to the power of `exponent` tokens cost. */
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
 * What tokens cost by the first tariff that is for calls of their size: an exact decimal. `undefined`: a count that has a price
 * is not told, or a part is greater than the count that should include it.
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
  // Nothing is negative: where the sum is a safe integer, all that led to it was one too.
  return writeScaled(Number.isSafeInteger(sum) ? sum : exactSum(tokens, tariff.rates), tariff.places)
}

function tariffFor({ inputTokens = 0, modelCalls = 1 }: RunCounts, tariffs: readonly Tariff[]): Tariff | undefined {
  const calls = Math.max(modelCalls, 1)
  // A product that is too great to be exact is greater than any count.
  for (const tariff of tariffs) if (inputTokens > tariff.aboveInputTokens * calls) return tariff
  return undefined
}

function exactSum(tokens: readonly number[], rates: readonly bigint[]): bigint {
  return rates.reduce((sum, rate, kind) => sum + rate * BigInt(tokens[kind] as number), 0n)
}
