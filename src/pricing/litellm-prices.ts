import type { ConfigProblem } from '../errors.ts'
import { isRecord } from '../options/read-options.ts'
import { litellmTiers } from './litellm-rates.ts'
import { NamedModels } from './named-models.ts'
import { checkList, type LeftOut, type PriceList, type PriceListOptions, priceList, stringAt } from './price-list.ts'

/** Names of providers in telemetry and SDKs. */
const ALIASES: Readonly<Record<string, string>> = {
  aws: 'bedrock',
  amazon_bedrock: 'bedrock',
  'aws.bedrock': 'bedrock',
  'amazon-bedrock': 'bedrock',
  google: 'gemini',
  'gcp.gemini': 'gemini',
  vertex: 'vertex_ai',
  'google-vertex': 'vertex_ai',
  'gcp.vertex_ai': 'vertex_ai',
  'azure.ai.openai': 'azure',
  mistral_ai: 'mistral',
  x_ai: 'xai',
  'x-ai': 'xai',
  together: 'together_ai',
  fireworks: 'fireworks_ai',
}
/** Names of one provider's interfaces, and `vertex_ai-` with the name of a maker. */
const INTERFACES: ReadonlyMap<string, string> = new Map([
  ['bedrock_converse', 'bedrock'],
  ['text-completion-openai', 'openai'],
  ['azure_text', 'azure'],
  ['cohere_chat', 'cohere'],
])
/** Entries that are no models. */
const NO_MODELS = ['sample_spec', 'fallback_generalizations']
/** The provider of the models' whole names. */
const ANY = ''

/**
 * Makes a price book of LiteLLM's `model_prices_and_context_window.json`. Prices are in US dollars. Models have the names of that list,
 * with or without their provider (`gemini/gemini-2.5-pro`), without case; providers are those of `litellm_provider`, with one name for
 * all interfaces of Bedrock and of Vertex. A run without a provider needs the whole name.
 *
 * `_batches`, `_flex` and `_priority` are the service tiers `batch`, `flex` and `priority`. Every kind of tokens has only the price that
 * the list states for it, its service tier and its length of prompts.
 *
 * Left out: models with prices by the image, second, character or page.
 * @throws {SallyportError} `option_invalid`: the data is not such a list.
 */
export function litellmPrices(json: unknown, options: PriceListOptions = {}): PriceList {
  const problems: ConfigProblem[] = []
  const leftOut: LeftOut[] = []
  const { version = 'litellm' } = options ?? {}
  const named = new NamedModels(version, 0, ALIASES)
  let models = 0
  if (!isRecord(json) || Object.keys(json).length === 0)
    problems.push({ field: 'json', detail: 'must be an object of models' })
  for (const [name, given] of Object.entries(isRecord(json) ? json : {})) {
    if (NO_MODELS.includes(name)) continue
    const provider = isRecord(given) ? stringAt(given, 'litellm_provider') : undefined
    if (!isRecord(given) || provider === undefined) {
      leftOut.push({ entry: name, reason: 'has no litellm_provider' })
      named.add(ANY, name, [{ prices: 'has no provider in the list' }])
      continue
    }
    const tiers = litellmTiers(given, (reason, part) => leftOut.push({ entry: name, ...(part && { part }), reason }))
    if (tiers.some(({ prices }) => typeof prices !== 'string')) models++
    const seller = sellerOf(provider)
    for (const [owner, own] of new Map([...namesOf(name, provider, seller), [ANY, [name]] as const])) {
      for (const one of own) {
        const reason = named.add(owner, one, tiers)
        if (reason) leftOut.push({ entry: `${owner}/${one}`, reason })
      }
    }
  }
  checkList('litellmPrices', options, problems)
  return priceList({ version, models, leftOut }, options, (provider, model) =>
    named.find(provider === undefined ? ANY : sellerOf(provider), model),
  )
}

function sellerOf(provider: string): string {
  return INTERFACES.get(provider) ?? provider.replace(/^vertex_ai-.*/, 'vertex_ai')
}

/** The whole name, and the name without its provider. */
function namesOf(name: string, provider: string, seller: string): readonly (readonly [string, readonly string[]])[] {
  const prefix = [`${provider}/`, `${seller}/`].find((start) => name.startsWith(start))
  return [[seller, prefix === undefined ? [name] : [name, name.slice(prefix.length)]]]
}
