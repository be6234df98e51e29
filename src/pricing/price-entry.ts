import { comparePatterns, type ModelPattern, patternsMeet, readPattern } from './model-pattern.ts'
import type { ModelPrices, PriceTier } from './price-book-options.ts'
import {
  type Fields,
  type Report,
  readCurrency,
  readFields,
  readInstant,
  readPrice,
  readVersion,
} from './read-options.ts'
import { RATES, type Rates, type Tariff, tariffOf } from './tariff.ts'

/** The prices of a model, checked. */
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

const TIER_FIELDS = ['aboveInputTokens', ...RATES] as const satisfies (keyof PriceTier)[]
const ENTRY_FIELDS = [
  ...(['model', 'provider', 'from', 'until', 'currency', 'version', 'tiers'] as const),
  ...RATES,
] satisfies (keyof ModelPrices)[]

const OPTIONAL_RATES = ['cacheRead', 'cacheWrite', 'reasoning'] as const

/** Fewer than any prompt has. */
const ANY_SIZE = -1

/** Reads an entry of a book. `undefined`: for no model. What it gives is of use only when nothing was reported. */
export function readEntry(given: unknown, book: BookDefaults, report: Report): PriceEntry | undefined {
  const fields = readFields(given, ENTRY_FIELDS, report)
  const { provider, currency, version } = fields
  const pattern = readPattern(fields.model)
  if (pattern === undefined) report('model', 'must be the name of a model, in which one * may stand for any characters')
  if (provider !== undefined && (typeof provider !== 'string' || provider === '')) report('provider', 'must be a name')
  const from = fields.from === undefined ? Number.NEGATIVE_INFINITY : readInstant(fields.from, 'from', report)
  const until = fields.until === undefined ? Number.POSITIVE_INFINITY : readInstant(fields.until, 'until', report)
  if (from >= until) report('until', 'must be later than from')
  const tariffs = readTariffs(fields, book.exponent, report)
  return (
    pattern && {
      pattern,
      ...(typeof provider === 'string' && { provider }),
      from,
      until,
      currency: currency === undefined ? book.currency : readCurrency(currency, report),
      version: version === undefined ? book.version : readVersion(version, report),
      tariffs,
    }
  )
}

function readTariffs(fields: Fields, exponent: number, report: Report): readonly Tariff[] {
  const tariffs = [tariffOf(ANY_SIZE, readRates(fields, report), exponent)]
  const { tiers = [] } = fields
  if (!Array.isArray(tiers)) {
    report('tiers', 'must be a list')
    return tariffs
  }
  let least = 0
  for (const [index, given] of tiers.entries()) {
    const tell: Report = (field, detail) => report(`tiers.${index}.${field}`, detail)
    const tier = readFields(given, TIER_FIELDS, tell)
    for (const name of OPTIONAL_RATES)
      if (fields[name] !== undefined && tier[name] === undefined) tell(name, 'must be given: the model has one')
    const above = readWhole(tier.aboveInputTokens, least, tell)
    tariffs.unshift(tariffOf(above, readRates(tier, tell), exponent))
    least = above + 1
  }
  return tariffs
}

function readRates(fields: Fields, report: Report): Rates {
  const read = (name: keyof Rates, otherwise?: string): string =>
    fields[name] === undefined && otherwise !== undefined ? otherwise : readPrice(fields[name], name, report)
  const input = read('input')
  const output = read('output')
  return {
    input,
    cacheRead: read('cacheRead', input),
    cacheWrite: read('cacheWrite', input),
    output,
    reasoning: read('reasoning', output),
  }
}

function readWhole(given: unknown, least: number, report: Report): number {
  if (Number.isSafeInteger(given) && (given as number) >= least) return given as number
  report('aboveInputTokens', 'must be a whole number, greater than that of the tier before')
  return least
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
