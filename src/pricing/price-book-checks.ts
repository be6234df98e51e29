import type { ConfigProblem } from '../errors.ts'
import { canonicalDecimal } from '../model/decimal.ts'
import { parseInstant } from '../model/instants.ts'
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
import type { ModelPrices, PriceBookOptions, PriceTier, TokenPrices } from './price-book-options.ts'

/** What costs so much at most has at most 38 digits, for any number of tokens that a count can say. */
const PRICE = /^\d{1,6}(?:\.\d{1,15})?$/

/** Reads a price as an exact decimal; `undefined`: it is none. */
export function readPrice(given: unknown): string | undefined {
  const decimal = typeof given === 'string' || typeof given === 'number' ? canonicalDecimal(given) : undefined
  return decimal !== undefined && PRICE.test(decimal) ? decimal : undefined
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** Reads an RFC 3339 date-time, or a date as its midnight in UTC, as epoch milliseconds; `undefined`: it is none. */
export function readPriceInstant(given: unknown): number | undefined {
  if (typeof given !== 'string') return undefined
  return parseInstant(DATE.test(given) ? `${given}T00:00:00Z` : given)
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
