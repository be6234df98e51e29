import type { ConfigProblem } from '../errors.ts'
import { canonicalDecimal, decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import { recordOf, text } from '../options/checks.ts'
import { type Check, type Checks, isRecord, optionError, problemsAt, problemsIn } from '../options/read-options.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { type Find, type Found, findByName } from './model-names.ts'
import { readPrice, type TokenPrices, version } from './price-book-options.ts'
import { type PriceEntry, priceOf, readEntry } from './price-entry.ts'
import { remembering } from './remembering.ts'

/** An entry of a published list, or a part of one, that has no price here. */
export interface LeftOut {
  /** Place in the list, such as `openai/whisper-1`. */
  readonly entry: string
  /** Name of the part in the list, such as `web_searches_kcount`. Absent: the whole entry. Its runs have no cost. */
  readonly part?: string
  /** For people, such as `is priced by audio_hours`. */
  readonly reason: string
}

/** Receives the reason why a part of a model, or the whole model, cannot be expressed. */
export type Report = (reason: string, part?: string) => void

/**
 * A price book made of a published list.
 *
 * A model is found by the name in the list, else by a name that stands for it: a region, an ARN or LiteLLM's route of Bedrock
 * (`us.anthropic.…`, `arn:aws:bedrock:…/us.anthropic.…`, `bedrock/us-east-2/anthropic.…`), `models/…` of Gemini, `publishers/google/models/…`
 * of Vertex. A region without an entry has the price without a region only if no other region in the list has another price. Other names
 * of yours: {@link PriceListOptions.models}.
 */
export interface PriceList extends PriceBook {
  /** Every priced run stores it. */
  readonly version: string
  /** Number of models with prices. */
  readonly models: number
  /** Entries and parts of the list that this price book cannot express. Runs that used them have no cost, and never a wrong one. */
  readonly leftOut: readonly LeftOut[]
}

/** Options of a {@link PriceList}. */
export interface PriceListOptions {
  /** Names these prices, 1 to 100 visible ASCII characters: that of the package, or the day of the download. Default: the name of the list. */
  readonly version?: string
  /** The list's names of providers by yours: `{ 'my-gateway': 'openai' }`. A name that is not here is looked up as it is. */
  readonly providers?: Readonly<Record<string, string>>
  /**
   * The list's names of models by those that your runs send, for names that you chose: deployments of Azure, application inference
   * profiles of Bedrock, aliases of a gateway. `{ 'azure/my-deployment': 'gpt-5' }` is for runs of the provider `azure`,
   * `{ 'my-deployment': 'gpt-5' }` for runs of any provider or none; the first wins. Names are without case.
   *
   * The model is of the run's provider. Write `'openai/gpt-5'` if the run has none, or another. A model that the list does not have
   * gives no cost. Default: names are looked up as they are. `option_invalid`: an empty name, or one that differs from another only by case.
   */
  readonly models?: Readonly<Record<string, string>>
}

const models: Check = (value) => {
  if (!isRecord(value)) return "must be an object such as { 'azure/my-deployment': 'gpt-5' }"
  const sent = Object.keys(value).map((name) => name.toLowerCase())
  return Object.entries(value).flatMap(([name, model], index) => {
    if (name === '') return problemsAt('""', 'must be the name of a model in runs, such as "azure/my-deployment"')
    if (sent.indexOf(name.toLowerCase()) < index) return problemsAt(name, 'is there twice: case is ignored')
    const isName = typeof model === 'string' && model !== ''
    return problemsAt(name, isName ? undefined : 'must be the name of a model in the list, such as "gpt-5"')
  })
}

const OPTIONS: Checks<PriceListOptions> = { version, providers: recordOf(text), models }

/** @throws {SallyportError} `option_invalid`, with all problems. */
export function checkList(call: string, options: PriceListOptions, problems: readonly ConfigProblem[]): void {
  optionError(call, [...problemsIn(options, OPTIONS), ...problems])
}

/** Makes a price book of a list that was read. `find` looks up the list's names of providers and models. */
export function priceList(
  list: Omit<PriceList, 'price'>,
  options: PriceListOptions,
  find: Find<PriceEntry>,
): PriceList {
  const providers = new Map(Object.entries(options.providers ?? {}))
  const models = new Map(Object.entries(options.models ?? {}).map(([sent, model]) => [sent.toLowerCase(), model]))
  const entriesFor = remembering((sentProvider, sent): Found<PriceEntry> => {
    const provider = sentProvider === undefined ? undefined : (providers.get(sentProvider) ?? sentProvider)
    const own = sentProvider === undefined ? undefined : models.get(`${sentProvider}/${sent}`.toLowerCase())
    const model = own ?? models.get(sent.toLowerCase())
    if (model === undefined) return findByName(provider, sent, find)
    const found = findByName(provider, model, find)
    const [maker = '', ...rest] = model.split('/')
    const other = hasEntry(found) || rest.length === 0 ? [] : findByName(maker, rest.join('/'), find)
    return hasEntry(other) ? other : found
  })
  return {
    ...list,
    price(usage) {
      const found = entriesFor(usage.provider, usage.model)
      return 'unpriced' in found ? found : priceOf(found, usage)
    },
  }
}

function hasEntry(found: Found<PriceEntry>): boolean {
  return 'length' in found && found.length > 0
}

/** Prices of one model of a list during one time. `string`: why they cannot be expressed. */
export type ListedPrices =
  | (TokenPrices & { readonly tiers?: readonly (TokenPrices & { aboveInputTokens: number })[] })
  | string

interface Listed {
  readonly prices: ListedPrices
  readonly serviceTier?: string
  readonly from?: string
  readonly until?: string
}

/** Converts prices of a list, for 10 to the power of `exponent` tokens, to an entry. */
export function listedEntry(listed: Listed, listVersion: string, exponent: number): PriceEntry {
  const { prices, ...rest } = listed
  const given = typeof prices === 'string' ? { ...rest, unpriced: prices } : { ...rest, ...prices }
  return readEntry(given, { version: listVersion, currency: 'USD', exponent })
}

/** Significant digits of a price. A float has up to 17, of which the last are noise: `2.9999999999999997e-7`. */
const DIGITS = 12
const NOISE = 1e-14

/** Reads a number of a list as an exact decimal; `undefined`: it is no number of 0 or more, or out of range. */
export function listedPrice(given: unknown): string | undefined {
  if (typeof given !== 'number') return undefined
  const rounded = Number(given.toPrecision(DIGITS))
  const isNoise = Math.abs(rounded - given) <= given * NOISE
  return readPrice(isNoise ? rounded : given)
}

/** Divides a decimal by 10 to the power of `places`. */
export function shifted(decimal: string, places: number): string {
  const own = decimalPlaces(decimal)
  return canonicalDecimal(writeScaled(scaleDecimal(decimal, own), own + places)) ?? decimal
}

export function stringAt(record: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = record[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The reason for a price that {@link listedPrice} cannot read. */
export function unreadable(name: string): string {
  return `has a price that is no number from 0 to 999999: ${name}`.slice(0, 200)
}

/** Different numbers in ascending order. */
export function ascending(numbers: Iterable<number>): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b)
}
