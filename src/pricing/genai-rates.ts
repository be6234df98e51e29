import { isRecord } from '../options/read-options.ts'
import type { TokenPrices } from './price-book-options.ts'
import type { PriceEntry } from './price-entry.ts'
import {
  ascending,
  type ListedPrices,
  listedEntry,
  listedPrice,
  type Report,
  shifted,
  unreadable,
} from './price-list.ts'

/** A million tokens. */
const EXPONENT = 6

const KINDS: Readonly<Record<string, keyof TokenPrices>> = {
  input_mtok: 'input',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWrite1h',
  input_audio_mtok: 'audioInput',
  input_image_mtok: 'imageInput',
  output_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
  output_audio_mtok: 'audioOutput',
  output_image_mtok: 'imageOutput',
}

/** Prices of uses that a run reports as `billedSearches`, or not at all. */
const USES = ['web_searches_kcount', 'storage_searches_kcount', 'social_searches_kcount', 'rerank_searches_kcount']
/** Prices of cached media: runs with both have no cost. */
const CACHED_MEDIA: Readonly<Record<string, string>> = {
  cache_audio_read_mtok: 'input_audio_mtok',
  cache_image_read_mtok: 'input_image_mtok',
}

type Prices = Readonly<Record<string, unknown>>

/** Converts the prices of a model: one record, or a list of records, of which the last that holds counts. */
export function genaiEntries(given: unknown, version: string, report: Report): readonly PriceEntry[] {
  const periods = periodsOf(given)
  if (typeof periods === 'string') {
    report(periods)
    return [listedEntry({ prices: periods }, version, EXPONENT)]
  }
  return periods.map(({ prices, from, until }) => {
    const converted = convert(prices, report)
    if (typeof converted === 'string') report(from === undefined ? converted : `${converted}, from ${from}`)
    return listedEntry({ prices: converted, ...(from && { from }), ...(until && { until }) }, version, EXPONENT)
  })
}

interface Period {
  readonly prices: unknown
  readonly from?: string | undefined
  readonly until?: string | undefined
}

/** Splits conditional prices into periods. `string`: why that is impossible. */
function periodsOf(given: unknown): readonly Period[] | string {
  if (!Array.isArray(given)) return [{ prices: given }]
  const conditions: (readonly [from: string, prices: unknown])[] = []
  for (const condition of given) {
    const { constraint, prices } = isRecord(condition) ? condition : {}
    if (constraint === undefined || constraint === null) {
      conditions.push(['', prices])
      continue
    }
    const { start_date: start } = isRecord(constraint) ? constraint : {}
    if (typeof start !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(start) || Number.isNaN(Date.parse(start)))
      return 'has prices that depend on more than a date'
    conditions.push([start, prices])
  }
  if (conditions.length === 0) return 'states no price'
  const starts = [...new Set(['', ...conditions.map(([from]) => from)])].sort()
  return starts.map((from, index) => {
    const [, prices] = conditions.findLast(([start]) => start <= from) ?? (conditions[0] as (typeof conditions)[0])
    return { prices, from: from || undefined, until: starts[index + 1] }
  })
}

function convert(given: unknown, report: Report): ListedPrices {
  if (!isRecord(given)) return 'states no price'
  const keys = Object.keys(given).filter((key) => given[key] !== undefined && given[key] !== null)
  if (keys.length === 0) return 'states no price'
  for (const key of keys) {
    const isKnown = Object.hasOwn(KINDS, key) || Object.hasOwn(CACHED_MEDIA, key) || USES.includes(key)
    if (!isKnown && key !== 'requests_kcount') return `is priced by ${key}`.slice(0, 200)
  }
  const same = Object.keys(CACHED_MEDIA).find(
    (key) => keys.includes(key) && !differs(given, CACHED_MEDIA[key] as string),
  )
  if (same !== undefined) return `is priced by ${same}, but not by ${CACHED_MEDIA[same]}`
  const starts = ascending(keys.flatMap((key) => tiersOf(given[key]).map(([start]) => start)))
  const base = pricesAbove(given, keys, undefined)
  if (typeof base === 'string') return base
  const tiers: (TokenPrices & { aboveInputTokens: number })[] = []
  for (const start of starts) {
    if (!Number.isSafeInteger(start) || start < 0) return 'has a tier whose start is not a whole number'
    const prices = pricesAbove(given, keys, start)
    if (typeof prices === 'string') return prices
    tiers.push({ aboveInputTokens: start, ...prices })
  }
  for (const key of keys) {
    if (USES.includes(key)) report('is not counted in tokens or calls', key)
    if (Object.hasOwn(CACHED_MEDIA, key)) report('needs to know which of the cached tokens were of this kind', key)
  }
  return tiers.length > 0 ? { ...base, tiers } : base
}

function differs(given: Prices, media: string): boolean {
  return given[media] !== undefined && JSON.stringify(given[media]) !== JSON.stringify(given.input_mtok)
}

/** Prices for prompts of more than `start` tokens; `undefined`: any prompt. */
function pricesAbove(given: Prices, keys: readonly string[], start: number | undefined): TokenPrices | string {
  const prices: { -readonly [Kind in keyof TokenPrices]: string } = {}
  for (const key of keys) {
    const kind = key === 'requests_kcount' ? 'request' : KINDS[key]
    if (kind === undefined) continue
    const price = listedPrice(priceAbove(given[key], start))
    if (price === undefined) return unreadable(key)
    prices[kind] = kind === 'request' ? shifted(price, 3) : price
  }
  if (prices.input !== undefined) prices.imageInput ??= prices.input
  if (Number(prices.request) >= 1_000) return unreadable('requests_kcount')
  return prices
}

function priceAbove(price: unknown, start: number | undefined): unknown {
  if (!isRecord(price)) return price
  if (start === undefined) return price.base
  return tiersOf(price).findLast(([above]) => above <= start)?.[1] ?? price.base
}

/** The tiers of a price, in ascending order. */
function tiersOf(price: unknown): readonly (readonly [start: number, price: unknown])[] {
  if (!isRecord(price)) return []
  if (!Array.isArray(price.tiers)) return [[Number.NaN, undefined]]
  return price.tiers
    .map((tier: unknown): [number, unknown] =>
      isRecord(tier) && typeof tier.start === 'number' ? [tier.start, tier.price] : [Number.NaN, undefined],
    )
    .sort(([a], [b]) => a - b)
}
