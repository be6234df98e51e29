import type { ConfigProblem } from '../errors.ts'
import { isRecord } from '../options/read-options.ts'
import { compileMatch, type Matches } from './genai-match.ts'
import { genaiEntries } from './genai-rates.ts'
import { isResourceName } from './model-names.ts'
import type { PriceEntry } from './price-entry.ts'
import {
  checkList,
  type LeftOut,
  type PriceList,
  type PriceListOptions,
  priceList,
  type Report,
  stringAt,
} from './price-list.ts'

interface Model {
  readonly matches: Matches
  readonly entries: readonly PriceEntry[]
}

interface Provider {
  readonly id: string
  readonly isNamed: Matches
  readonly hasModel: Matches
  /** In the order of the list: the first that matches counts. */
  readonly models: readonly Model[]
  readonly fallbacks: readonly string[]
}

const NONE: readonly PriceEntry[] = []
const never: Matches = () => false

/**
 * Makes a price book of the data of `@pydantic/genai-prices`: `genaiPrices(await waitForUpdate())`, or the JSON of its repository
 * (`prices/new_data/v2/data.json`). Prices are in US dollars.
 *
 * Finds providers and models as that package does: names without case, the first match of the list. A run without a provider has that
 * of its model. Image input has the price of `input` where the list states no other; every other kind of tokens has only the price that
 * the list states.
 *
 * Left out: prices by the time of day, models that state no price, and units that runs do not count, such as hours and pages.
 * @throws {SallyportError} `option_invalid`: the data is not such a list, or the match logic of an entry is not understood. Names each.
 */
export function genaiPrices(data: unknown, options: PriceListOptions = {}): PriceList {
  const problems: ConfigProblem[] = []
  const leftOut: LeftOut[] = []
  const { version = 'genai-prices' } = options ?? {}
  const providers = readProviders(data, version, problems, (entry) => leftOut.push(entry))
  checkList('genaiPrices', options, problems)
  const models = providers.flatMap((provider) => provider.models).filter(({ entries }) => entries.some(hasPrice)).length
  return priceList({ version, models, leftOut }, options, (name, model) => {
    if (isResourceName(model)) return NONE
    const asked = model.toLowerCase().trim()
    const provider = findProvider(providers, name, asked)
    if (!provider) return NONE
    return modelOf(provider, asked, providers) ?? modelOf(provider, withDashes(asked), providers) ?? NONE
  })
}

function hasPrice({ unpriced }: PriceEntry): boolean {
  return unpriced === undefined
}

function readProviders(
  data: unknown,
  version: string,
  problems: ConfigProblem[],
  report: (leftOut: LeftOut) => void,
): readonly Provider[] {
  if (!Array.isArray(data) || data.length === 0) {
    problems.push({ field: 'data', detail: 'must be a list of providers with their models' })
    return []
  }
  return data.map((given: unknown, index): Provider => {
    const provider = isRecord(given) ? given : {}
    const id = stringAt(provider, 'id')
    const { models, provider_match, model_match, fallback_model_providers: fallbacks } = provider
    if (id === undefined || !Array.isArray(models))
      problems.push({ field: `data[${index}]`, detail: 'must have an id and a list of models' })
    const at = (place: string) => `data[${index}].${place} (${id})`
    const readMatch = (logic: unknown, place: string, absent?: Matches): Matches => {
      const matches = logic === undefined || logic === null ? absent : compileMatch(logic)
      if (!matches) problems.push({ field: at(place), detail: 'has match logic that is not understood' })
      return matches ?? never
    }
    return {
      id: id ?? '',
      isNamed: readMatch(provider_match, 'provider_match', never),
      hasModel: readMatch(model_match, 'model_match', never),
      models: (Array.isArray(models) ? models : []).map((one: unknown, place): Model => {
        const model = isRecord(one) ? one : {}
        const modelId = stringAt(model, 'id') ?? `models[${place}]`
        const tell: Report = (reason, part) => report({ entry: `${id}/${modelId}`, ...(part && { part }), reason })
        return {
          matches: readMatch(model.match, `models[${place}].match (${modelId})`),
          entries: genaiEntries(model.prices, version, tell),
        }
      }),
      fallbacks: Array.isArray(fallbacks) ? fallbacks.map(String) : [],
    }
  })
}

/** By its name, else by the model. */
function findProvider(providers: readonly Provider[], name: string | undefined, model: string): Provider | undefined {
  if (name === undefined) return providers.find(({ hasModel }) => hasModel(model))
  const asked = name.toLowerCase().trim()
  return providers.find(({ id }) => id.toLowerCase() === asked) ?? providers.find(({ isNamed }) => isNamed(asked))
}

/** Models of the provider, then of those whose models it offers. */
function modelOf(
  { models, fallbacks }: Provider,
  name: string,
  providers: readonly Provider[],
): readonly PriceEntry[] | undefined {
  const own = models.find(({ matches }) => matches(name))
  if (own) return own.entries
  for (const fallback of fallbacks) {
    const other = providers.find(({ id }) => id === fallback)
    const found = other?.models.find(({ matches }) => matches(name))
    if (found) return found.entries
  }
  return undefined
}

const DATE = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g

/** `gpt-5-20260807` as `gpt-5-2026-08-07`: providers write the date of a model in both ways. */
function withDashes(model: string): string {
  return model.replace(DATE, '-$1-$2-$3')
}
