import { STANDARD_TIER } from '../model/service-tier.ts'
import type { TierPrices } from './named-models.ts'
import type { TokenPrices } from './price-book-options.ts'
import { ascending, type ListedPrices, listedPrice, type Report, unreadable } from './price-list.ts'

const KINDS: Readonly<Record<string, keyof TokenPrices>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cacheRead',
  input_cost_per_token_cache_hit: 'cacheRead',
  cache_creation_input_token_cost: 'cacheWrite',
  cache_creation_input_token_cost_above_1hr: 'cacheWrite1h',
  input_cost_per_audio_token: 'audioInput',
  output_cost_per_audio_token: 'audioOutput',
  input_cost_per_image_token: 'imageInput',
  output_cost_per_image_token: 'imageOutput',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_request: 'request',
}

/** Name of a price, then its length of prompts and its service tier: `input_cost_per_token_above_200k_tokens_priority`. */
const PRICE = /^(.+?)(?:_above_(\d{1,6})k_tokens)?(?:_(batches|flex|priority|fast|ultrafast))?$/
const BATCH = 'batch'

/** Prices of what runs do not count, or report as `billedSearches` or as a service tier. */
const USES =
  /^(?:search_context_cost_per_query|web_search_cost_per_.*|google_.*_cost_per_query|code_interpreter_cost_per_.*|computer_use_.*|file_search_.*|vector_store_.*|provider_specific_entry|regional_.*)$/
/** Prices of cached media: runs with both have no cost where the media have prices of their own. */
const CACHED_MEDIA: Readonly<Record<string, keyof TokenPrices>> = {
  cache_read_input_audio_token_cost: 'audioInput',
  cache_creation_input_audio_token_cost: 'audioInput',
  cache_read_input_image_token_cost: 'imageInput',
}
/** Any member that could be a price. */
const MONEY = /cost|price|pricing|multiplier|provider_specific_entry/
/** The same price in another unit. */
const IGNORED = /_dbu_/

type Draft = { -readonly [Kind in keyof TokenPrices]: string }

/** Converts one model to its prices for every service tier. A reason stands for a tier that cannot be expressed. */
export function litellmTiers(given: Readonly<Record<string, unknown>>, report: Report): readonly TierPrices[] {
  const rates = readRates(given, report)
  if (typeof rates === 'string') {
    report(rates)
    return [{ prices: rates }]
  }
  const lengths = ascending(
    [...rates.values()].flatMap((byLength) => [...byLength.keys()]).filter((above) => above > 0),
  )
  const hasRequest = rates.get(STANDARD_TIER)?.get(0)?.request !== undefined
  return [...rates].map(([serviceTier, byLength]) => {
    const lacksRequest = hasRequest && byLength.get(0)?.request === undefined
    const prices = lacksRequest ? 'states no price of a request for this service tier' : pricesOf(byLength, lengths)
    return { serviceTier, prices }
  })
}

/** Prices by service tier and length of prompts in thousands; 0: any. `string`: why they cannot be expressed. */
function readRates(
  given: Readonly<Record<string, unknown>>,
  report: Report,
): ReadonlyMap<string, ReadonlyMap<number, Draft>> | string {
  const rates = new Map<string, Map<number, Draft>>()
  const uses: string[] = []
  const cachedMedia: string[] = []
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    const found = kindOf(key)
    if (!found) {
      if (value === 0 || !MONEY.test(key) || IGNORED.test(key)) continue
      if (USES.test(key)) uses.push(key)
      else if (Object.hasOwn(CACHED_MEDIA, key)) cachedMedia.push(key)
      else return `is priced by ${key}`.slice(0, 200)
      continue
    }
    const price = listedPrice(value)
    if (price === undefined || (found.kind === 'request' && Number(price) >= 1_000)) return unreadable(key)
    const byLength = rates.get(found.tier) ?? new Map<number, Draft>()
    const draft = byLength.get(found.above) ?? {}
    if (draft[found.kind] !== undefined && draft[found.kind] !== price) return `has two prices for ${found.kind}`
    draft[found.kind] = price
    rates.set(found.tier, byLength.set(found.above, draft))
  }
  const base = rates.get(STANDARD_TIER)?.get(0)
  if (base === undefined) return 'states no price'
  for (const key of cachedMedia) {
    const media = base[CACHED_MEDIA[key] as keyof TokenPrices]
    if (media === undefined || media === base.input) return `is priced by ${key}`
  }
  for (const key of uses) report('is not counted in tokens or calls', key)
  for (const key of cachedMedia) report('needs to know which of the cached tokens were of this kind', key)
  return rates
}

interface Found {
  readonly kind: keyof TokenPrices
  readonly above: number
  readonly tier: string
}

function kindOf(key: string): Found | undefined {
  const [, name = '', above = '0', suffix = STANDARD_TIER] = PRICE.exec(key) ?? []
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  return kind && { kind, above: Number(above), tier: suffix === 'batches' ? BATCH : suffix }
}

/** A kind of tokens that is not stated for a length of prompts has no price there. */
function pricesOf(byLength: ReadonlyMap<number, Draft>, lengths: readonly number[]): ListedPrices {
  const base = byLength.get(0) ?? {}
  const { request } = base
  const tiers = lengths.map((above) => ({
    aboveInputTokens: above * 1_000,
    ...(request !== undefined && { request }),
    ...byLength.get(above),
  }))
  return { ...base, ...(tiers.length > 0 && { tiers }) }
}
