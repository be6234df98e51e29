import type { ConfigProblem } from '../errors.ts'
import { canonicalDecimal } from '../model/decimal.ts'
import { arrayOf, like, matching, oneOf, whole, word } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  nested,
  problemsAt,
  problemsIn,
  required,
} from '../options/read-options.ts'
import { readPattern } from './model-pattern.ts'

/**
 * What tokens cost, by the `per` of the book. A price is a decimal as the provider prints it, `'1.25'` or `1.25`: 0 or more,
 * below 1,000,000, at most 15 decimals.
 */
export interface TokenPrices {
  /** Of input that no cache gave or took. */
  readonly input: string | number
  /** Of output. */
  readonly output: string | number
  /** Of input that a cache gave. Default: that of `input`, as providers charge that have no price for it. */
  readonly cacheRead?: string | number
  /** Of input that a cache took. Default: that of `input`, as providers charge that have no price for it. */
  readonly cacheWrite?: string | number
  /** Of output that was reasoning. Default: that of `output`. */
  readonly reasoning?: string | number
}

/** What all tokens of a call with a long prompt cost. */
export interface PriceTier extends TokenPrices {
  /** For calls with more input than that, what a cache gave and took included. */
  readonly aboveInputTokens: number
}

/** What the tokens of a model cost. */
export interface ModelPrices extends TokenPrices {
  /** Its name, or a pattern: one `*` in it stands for any characters, or none. */
  readonly model: string
  /** Who runs it, as runs name it. Default: anybody. */
  readonly provider?: string
  /** When these prices begin: an RFC 3339 date (midnight UTC) or date-time. Default: always. */
  readonly from?: string
  /** When they end: the first instant at which they no longer hold, likewise. Default: never. */
  readonly until?: string
  /** ISO 4217. Default: that of the book. */
  readonly currency?: string
  /** Names these prices. Default: the version of the book. */
  readonly version?: string
  /** For longer prompts, in ascending order. A tier has to give every price that stands beside `tiers`. */
  readonly tiers?: readonly PriceTier[]
}

/** How a {@link priceBook} is made. */
export interface PriceBookOptions {
  /** Names these prices, 1 to 100 visible ASCII characters: every run that is priced keeps it. */
  readonly version: string
  /** ISO 4217. Default: `USD`. */
  readonly currency?: string
  /** How many tokens a price is for. Default: 1,000,000. */
  readonly per?: 1 | 1_000 | 1_000_000
  readonly prices: readonly ModelPrices[]
}

/** What costs so much at most has at most 38 digits, for any number of tokens that a count can say. */
const PRICE = /^\d{1,6}(?:\.\d{1,15})?$/

/** Reads a price as an exact decimal; `undefined`: it is none. */
export function readPrice(given: unknown): string | undefined {
  const decimal = typeof given === 'string' || typeof given === 'number' ? canonicalDecimal(given) : undefined
  return decimal !== undefined && PRICE.test(decimal) ? decimal : undefined
}

const RFC_3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/

/** Reads an RFC 3339 date-time, or a date as its midnight in UTC, as epoch milliseconds; `undefined`: it is none. */
export function readPriceInstant(given: unknown): number | undefined {
  const day = typeof given === 'string' ? RFC_3339.exec(given)?.[1] : undefined
  return day !== undefined && isInCalendar(day) ? Date.parse(given as string) : undefined
}

/** The 30th of February is read as a day in March. */
function isInCalendar(day: string): boolean {
  return new Date(Date.parse(day)).toISOString().startsWith(day)
}

const OPTIONAL_RATES = ['cacheRead', 'cacheWrite', 'reasoning'] as const

const price = matching(
  (value) => readPrice(value) !== undefined,
  'must be a decimal, such as "1.25": 0 or more, below 1000000, at most 15 decimals',
)
const instant = matching(
  (value) => readPriceInstant(value) !== undefined,
  'must be an RFC 3339 date, or a date-time with its offset',
)
const currency = like(/^[A-Z]{3}$/, 'must be an ISO 4217 code, such as "USD"')
const version = like(/^[!-~]{1,100}$/, 'must be 1 to 100 visible ASCII characters')

const RATES: Checks<TokenPrices> = {
  input: required(price),
  output: required(price),
  cacheRead: price,
  cacheWrite: price,
  reasoning: price,
}

const TIER: Checks<PriceTier> = { aboveInputTokens: required(whole(0, Number.MAX_SAFE_INTEGER)), ...RATES }

/** A tier gives every price that its entry gives, and begins above the tier before it. */
const tiers: Check = (value, entry) => {
  if (!Array.isArray(value)) return 'must be a list'
  return [...value].flatMap((given, index) =>
    problemsAt(
      `[${index}]`,
      problemsIn(given, TIER, (own) => [...missingRates(own, entry), ...orderProblems(own, value[index - 1])]),
    ),
  )
}

function missingRates(given: GivenOptions, entry: GivenOptions): ConfigProblem[] {
  const missing = OPTIONAL_RATES.filter((name) => entry[name] !== undefined && given[name] === undefined)
  return missing.map((field) => ({ field, detail: 'must be given: the model has one' }))
}

function orderProblems(given: GivenOptions, before: unknown): ConfigProblem[] {
  const [above, least] = [given, before].map((each) => Reflect.get(Object(each), 'aboveInputTokens'))
  return typeof above === 'number' && above <= least
    ? [{ field: 'aboveInputTokens', detail: 'must be greater than that of the tier before' }]
    : []
}

const ENTRY: Checks<ModelPrices> = {
  model: required(
    matching(
      (value) => readPattern(value) !== undefined,
      'must be the name of a model, in which one * may stand for any characters',
    ),
  ),
  provider: word,
  from: instant,
  until: (value, { from }) => {
    const [begin = Number.NaN, end = Number.NaN] = [readPriceInstant(from), readPriceInstant(value)]
    return instant(value, {}) ?? (begin >= end ? 'must be later than from' : undefined)
  },
  currency,
  version,
  ...RATES,
  tiers,
}

/** Whether an entry can be read. */
export function isEntry(given: unknown): given is ModelPrices {
  const fault = entry(given, {})
  return fault === undefined || fault.length === 0
}

const entry: Check = nested(ENTRY)

export const BOOK: Checks<PriceBookOptions> = {
  version: required(version),
  currency,
  per: oneOf([1, 1_000, 1_000_000]),
  prices: required(arrayOf(entry, 'must be a list of at least one', 1)),
}
