import type { ConfigProblem } from '../errors.ts'
import { canonicalDecimal, decimalPlaces, scaleDecimal, writeScaled } from '../model/decimal.ts'
import { recordOf, text } from '../options/checks.ts'
import { type Checks, optionError, problemsIn } from '../options/read-options.ts'
import type { PriceBook } from '../ports/price-book.ts'
import { readPrice, type TokenPrices, version } from './price-book-options.ts'
import { type PriceEntry, readEntry } from './price-entry.ts'

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

/** A price book made of a published list. */
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
}

const OPTIONS: Checks<PriceListOptions> = { version, providers: recordOf(text) }

/** @throws {SallyportError} `option_invalid`, with all problems. */
export function checkList(call: string, options: PriceListOptions, problems: readonly ConfigProblem[]): void {
  optionError(call, [...problemsIn(options, OPTIONS), ...problems])
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

/** The list's name of a provider. */
export function ownName(names: Readonly<Record<string, string>>, provider: string): string {
  return (Object.hasOwn(names, provider) ? names[provider] : undefined) ?? provider
}

/** The reason for a price that {@link listedPrice} cannot read. */
export function unreadable(name: string): string {
  return `has a price that is no number from 0 to 999999: ${name}`.slice(0, 200)
}

/** Different numbers in ascending order. */
export function ascending(numbers: Iterable<number>): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b)
}
