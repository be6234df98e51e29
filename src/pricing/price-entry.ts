import { comparePatterns, type ModelPattern, patternsMeet, readPattern } from './model-pattern.ts'
import { readPrice, readPriceInstant } from './price-book-checks.ts'
import type { ModelPrices, TokenPrices } from './price-book-options.ts'
import { type Tariff, tariffOf } from './tariff.ts'

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
