import type { ConfigProblem } from '../errors.ts'
import { canonicalDecimal } from '../model/decimal.ts'
import { arrayOf, choice, has, like, matching, whole, word } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  nested,
  problemsAt,
  problemsIn,
  required,
} from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { readPattern } from './model-pattern.ts'

/**
 * Prices for `per` tokens. A price is a decimal as the provider prints it, `'1.25'` or `1.25`: 0 or more, below 1,000,000, at most 15
 * decimals.
 *
 * Every kind of token has a price of its own: a run that used a kind without one has no cost (`unpriced_part`). Set `cacheRead` to
 * the price of `input` if the provider makes no difference.
 */
export interface TokenPrices {
  /** Input that none of the other prices is for. */
  readonly input?: string | number
  /** Input read from a cache: `cacheReadTokens`. */
  readonly cacheRead?: string | number
  /** Input written to a cache: `cacheWriteTokens` without `cacheWrite1hTokens`. */
  readonly cacheWrite?: string | number
  /** Input written to a cache for one hour: `cacheWrite1hTokens`. */
  readonly cacheWrite1h?: string | number
  /** `audioInputTokens`. */
  readonly audioInput?: string | number
  /** `imageInputTokens`. */
  readonly imageInput?: string | number
  /** Output that none of the other prices is for. Absent: the model has no output, such as one for embeddings. */
  readonly output?: string | number
  /** `reasoningTokens`. Default: `output`. */
  readonly reasoning?: string | number
  /** `audioOutputTokens`. */
  readonly audioOutput?: string | number
  /** `imageOutputTokens`. */
  readonly imageOutput?: string | number
  /** One call, whatever `per` is: `modelCalls`. Below 1,000. */
  readonly request?: string | number
}

/** Prices of all tokens of a call with a long prompt (long context). */
export interface PriceTier extends TokenPrices {
  /** For calls with more input tokens, including cache reads and writes. */
  readonly aboveInputTokens: number
}

/** Prices of a model. */
export interface ModelPrices extends TokenPrices {
  /** The model's name, or a pattern with one `*` for any characters or none. */
  readonly model: string
  /** The provider's name in runs. Default: any. */
  readonly provider?: string
  /** The service tier of runs, such as `batch`; case is ignored. Default: `standard`. */
  readonly serviceTier?: string
  /** Start: an RFC 3339 date (midnight UTC) or date-time. Default: always. */
  readonly from?: string
  /** End, exclusive, in the same format. Default: never. */
  readonly until?: string
  /** ISO 4217. Default: that of the book. */
  readonly currency?: string
  /** Names these prices. Default: the version of the book. */
  readonly version?: string
  /** For longer prompts, in ascending order. A tier must have every price that the model has. */
  readonly tiers?: readonly PriceTier[]
  /** Why these runs have no cost, 1 to 200 characters, such as `is priced by the second`. Then there are no prices. */
  readonly unpriced?: string
}

/** Options of {@link priceBook}. */
export interface PriceBookOptions {
  /** Names these prices, 1 to 100 visible ASCII characters. Every priced run stores it. */
  readonly version: string
  /** ISO 4217. Default: `USD`. */
  readonly currency?: string
  /** Number of tokens that a price is for. Default: 1,000,000. */
  readonly per?: 1 | 1_000 | 1_000_000
  readonly prices: readonly ModelPrices[]
  /** Asked for models that no entry is for, for example a published list: {@link genaiPrices}. */
  readonly otherwise?: PriceBook
}

/** This maximum limits a cost to 38 digits for any count of tokens. */
const PRICE = /^\d{1,6}(?:\.\d{1,15})?$/

export function readPrice(given: unknown): string | undefined {
  const decimal = typeof given === 'string' || typeof given === 'number' ? canonicalDecimal(given) : undefined
  return decimal !== undefined && PRICE.test(decimal) ? decimal : undefined
}

const RFC_3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/

/** Epoch milliseconds of an RFC 3339 date-time or date (midnight UTC); `undefined` if invalid. */
export function readPriceInstant(given: unknown): number | undefined {
  const day = typeof given === 'string' ? RFC_3339.exec(given)?.[1] : undefined
  return day !== undefined && isInCalendar(day) ? Date.parse(given as string) : undefined
}

/** `Date.parse` reads the 30th of February as a day in March. */
function isInCalendar(day: string): boolean {
  return new Date(Date.parse(day)).toISOString().startsWith(day)
}

const price = matching(
  (value) => readPrice(value) !== undefined,
  'must be a decimal, such as "1.25": 0 or more, below 1000000, at most 15 decimals',
)
const instant = matching(
  (value) => readPriceInstant(value) !== undefined,
  'must be an RFC 3339 date, or a date-time with its offset',
)
const currency = like(/^[A-Z]{3}$/, 'must be an ISO 4217 code, such as "USD"')
export const version: Check = like(/^[!-~]{1,100}$/, 'must be 1 to 100 visible ASCII characters')

const request = matching((value) => Number(readPrice(value)) < 1_000, 'must be a decimal of 0 or more, below 1000')

const PRICES: Checks<TokenPrices> = {
  input: price,
  cacheRead: price,
  cacheWrite: price,
  cacheWrite1h: price,
  audioInput: price,
  imageInput: price,
  output: price,
  reasoning: price,
  audioOutput: price,
  imageOutput: price,
  request,
}

const TIER: Checks<PriceTier> = { aboveInputTokens: required(whole(0, Number.MAX_SAFE_INTEGER)), ...PRICES }

const tiers: Check = (value, entry) => {
  if (!Array.isArray(value)) return `is ${kindOf(value)}; must be a list of tiers`
  return [...value].flatMap((given, index) =>
    problemsAt(
      `[${index}]`,
      problemsIn(given, TIER, (own) => [...missingPrices(own, entry), ...orderProblems(own, value[index - 1])]),
    ),
  )
}

function missingPrices(given: GivenOptions, entry: GivenOptions): ConfigProblem[] {
  const missing = Object.keys(PRICES).filter((name) => entry[name] !== undefined && given[name] === undefined)
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
  serviceTier: word,
  from: instant,
  until: (value, { from }) => {
    const [begin = Number.NaN, end = Number.NaN] = [readPriceInstant(from), readPriceInstant(value)]
    return instant(value, {}) ?? (begin >= end ? 'is not after from; must be later' : undefined)
  },
  currency,
  version,
  ...PRICES,
  tiers,
  unpriced: matching(
    (value) => typeof value === 'string' && value.length >= 1 && value.length <= 200,
    'must be 1 to 200 characters',
  ),
}

/** An entry has prices, or says why it has none. */
function entryProblems(given: GivenOptions): ConfigProblem[] {
  const hasPrice = Object.keys(PRICES).some((name) => given[name] !== undefined)
  if (hasPrice !== (given.unpriced !== undefined)) return []
  return [{ detail: hasPrice ? 'has both prices and unpriced; leave one out' : 'needs a price, such as input' }]
}

export function isEntry(given: unknown): given is ModelPrices {
  const fault = entry(given, {})
  return fault === undefined || fault.length === 0
}

const entry: Check = nested(ENTRY, entryProblems)

const entries = arrayOf(entry, 'must be a list of at least one, unless otherwise is given', 1)
const prices: Check = (value, given) =>
  Array.isArray(value) && value.length === 0 && given.otherwise !== undefined ? [] : entries(value, given)

export const BOOK: Checks<PriceBookOptions> = {
  version: required(version),
  currency,
  per: choice([1, 1_000, 1_000_000]),
  prices: required(prices),
  otherwise: has('genaiPrices(…), another price book or an object { price(usage) }', 'price'),
}
