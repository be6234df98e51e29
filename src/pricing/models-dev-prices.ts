import type { ConfigProblem } from '../errors.ts'
import { isRecord } from '../options/read-options.ts'
import type { UnpricedPart } from '../ports/price-book.ts'
import { NamedModels } from './named-models.ts'
import type { TokenPrices } from './price-book-options.ts'
import {
  checkList,
  type LeftOut,
  type ListedPrices,
  listedPrice,
  type PriceList,
  type PriceListOptions,
  priceList,
  unreadable,
} from './price-list.ts'

/** A million tokens. */
const EXPONENT = 6

const KINDS: Readonly<Record<string, keyof TokenPrices>> = {
  input: 'input',
  output: 'output',
  reasoning: 'reasoning',
  cache_read: 'cacheRead',
  cache_write: 'cacheWrite',
  input_audio: 'audioInput',
  output_audio: 'audioOutput',
}
/** Names of providers in telemetry and SDKs. */
const ALIASES: Readonly<Record<string, string>> = {
  aws: 'amazon-bedrock',
  amazon_bedrock: 'amazon-bedrock',
  bedrock_converse: 'amazon-bedrock',
  bedrock: 'amazon-bedrock',
  'aws.bedrock': 'amazon-bedrock',
  gemini: 'google',
  'gcp.gemini': 'google',
  vertex: 'google-vertex',
  vertex_ai: 'google-vertex',
  'gcp.vertex_ai': 'google-vertex',
  'azure.ai.openai': 'azure',
  mistral_ai: 'mistral',
  x_ai: 'xai',
  'x-ai': 'xai',
  together: 'togetherai',
}

const LONG_PROMPT = 200_000
/** Members of a price that hold the prices of long prompts. */
const LONG = ['tiers', 'context_over_200k']

/**
 * Makes a price book of the `api.json` of models.dev. Prices are in US dollars. Providers and models have the names of that list,
 * without case; set `providers` where yours differ. A run without a provider has no cost.
 *
 * The list has no prices for images, for one-hour cache writes and for service tiers: runs that used them have no cost.
 * @throws {SallyportError} `option_invalid`: the data is not such a list. Names the provider.
 */
export function modelsDevPrices(json: unknown, options: PriceListOptions = {}): PriceList {
  const problems: ConfigProblem[] = []
  const leftOut: LeftOut[] = []
  const { version = 'models.dev' } = options ?? {}
  const named = new NamedModels(version, EXPONENT, ALIASES)
  let models = 0
  if (!isRecord(json) || Object.keys(json).length === 0)
    problems.push({ field: 'json', detail: 'must be an object of providers' })
  for (const [provider, given] of Object.entries(isRecord(json) ? json : {})) {
    const list = isRecord(given) ? given.models : undefined
    if (!isRecord(list)) {
      problems.push({ field: `json.${provider}`, detail: 'must have an object of models' })
      continue
    }
    for (const [model, one] of Object.entries(list)) {
      const prices = convert(isRecord(one) ? one.cost : undefined)
      const reason = named.add(provider, model, [{ prices }]) ?? (typeof prices === 'string' ? prices : undefined)
      if (reason === undefined) models++
      else leftOut.push({ entry: `${provider}/${model}`, reason })
    }
  }
  checkList('modelsDevPrices', options, problems)
  return priceList({ version, models, leftOut }, options, (provider, model) => {
    if (provider !== undefined) return named.find(provider, model)
    return named.has(model) ? NO_PROVIDER : []
  })
}

const NO_PROVIDER: UnpricedPart = {
  unpriced: 'provider',
  reason: 'is absent, and every provider of this model has prices of its own',
}

function convert(cost: unknown): ListedPrices {
  if (!isRecord(cost)) return 'states no price'
  const base = pricesOf(cost, LONG)
  if (typeof base === 'string') return base
  if (Array.isArray(cost.tiers)) return withTiers(base, cost.tiers)
  const { context_over_200k: long } = cost
  if (long === undefined || long === null) return base
  if (!isRecord(long)) return unreadable('context_over_200k')
  return withTiers(base, [{ ...long, tier: { type: 'context', size: LONG_PROMPT } }])
}

function withTiers(base: TokenPrices, given: readonly unknown[]): ListedPrices {
  const tiers: (TokenPrices & { aboveInputTokens: number })[] = []
  for (const one of given) {
    if (!isRecord(one) || !isRecord(one.tier)) return unreadable('tiers')
    const { type, size } = one.tier
    if (type !== 'context' || !Number.isSafeInteger(size) || Number(size) < 0)
      return 'has a tier that is not by the length of the prompt'
    const own = pricesOf(one, ['tier'])
    if (typeof own === 'string') return own
    tiers.push({ aboveInputTokens: Number(size), ...own })
  }
  tiers.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  if (new Set(tiers.map(({ aboveInputTokens }) => aboveInputTokens)).size < tiers.length)
    return 'has two tiers of one length'
  return { ...base, tiers }
}

/** Prices of a record whose other members are `others`. A member that is not known could be a price of something. */
function pricesOf(record: Readonly<Record<string, unknown>>, others: readonly string[]): TokenPrices | string {
  const prices: { -readonly [Kind in keyof TokenPrices]: string } = {}
  for (const [key, given] of Object.entries(record)) {
    if (others.includes(key) || given === undefined || given === null) continue
    const kind = Object.hasOwn(KINDS, key) ? KINDS[key] : undefined
    if (kind === undefined) return `is priced by ${key}`.slice(0, 200)
    const price = listedPrice(given)
    if (price === undefined) return unreadable(key)
    prices[kind] = price
  }
  return Object.keys(prices).length > 0 ? prices : 'states no price'
}
