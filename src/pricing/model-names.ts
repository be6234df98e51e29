import type { UnpricedPart } from '../ports/price-book.ts'
import { type PriceEntry, samePrices } from './price-entry.ts'

/** Entries for one name. Empty: the list has none. */
export type Found<Entry> = readonly Entry[] | UnpricedPart

/** Looks up a name as it is written. `provider` is `undefined` where neither the run nor the name tells it. */
export type Find<Entry> = (provider: string | undefined, model: string) => Found<Entry>

/** The model that a name of one seller stands for. */
interface NamedModel {
  /** The name in lists. */
  readonly name: string
  /** The name without its region. Its price is for the region only where the list makes no difference. */
  readonly anyRegion?: string
  /** No other seller writes names like this one. */
  readonly isUnmistakable: boolean
}

/** Names that one seller's interfaces and SDKs write. */
interface NameForm {
  /** A name of the seller that every list knows. */
  readonly seller: string
  /** The seller's names as a provider. */
  readonly isProvider: RegExp
  read(model: string): NamedModel | undefined
}

/** Where inference profiles of Bedrock run. `global.` is beside these, and tells nothing about the price in one of them. */
const GEOGRAPHIES = 'us us-gov eu apac jp au ca in'.split(' ')
/** Regions of AWS. */
const REGIONS =
  'us-east-1 us-east-2 us-west-1 us-west-2 us-gov-east-1 us-gov-west-1 ca-central-1 ca-west-1 mx-central-1 sa-east-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 me-central-1 me-south-1 il-central-1 af-south-1'
/** Both, as lists write them before the name of a model. */
const PLACES = [...GEOGRAPHIES.map((name) => `${name}.`), ...REGIONS.split(' ').map((name) => `${name}/`)]

/** LiteLLM's route; an ARN or a region; a geography; the maker and its model. An ARN of any other resource names no model. */
const BEDROCK = new RegExp(
  '^((?:bedrock/)?(?:(?:converse|invoke)/)?' +
    '(?:arn:aws[a-z-]*:bedrock:([a-z0-9-]*):\\d*:(?:inference-profile|foundation-model)/|([a-z]{2}(?:-[a-z]+)+-\\d)/)?' +
    `((?:global|${GEOGRAPHIES.join('|')})\\.)?)([a-z0-9]+\\.[^/]+)$`,
  'i',
)
/** Makers have prices by location, except Google. */
const VERTEX =
  /^(?:projects\/[^/]+\/locations\/(?:global\/|[^/]+\/(?=publishers\/google\/)))?publishers\/[^/]+\/models\/([^/]+)$/i
const GEMINI = /^models\/([^/]+)$/i

const GOOGLE = /^(?:google|gemini|gcp)|vertex/i

const FORMS: readonly NameForm[] = [
  {
    seller: 'bedrock',
    isProvider: /bedrock|^(?:aws|amazon)$/i,
    read(model) {
      const [, wrapper, ofArn, region = ofArn, geography = '', name = ''] = BEDROCK.exec(model) ?? []
      if (wrapper === undefined) return undefined
      const isUnmistakable = wrapper !== '' || /^(?:amazon|anthropic)\./i.test(name)
      const place = geography || (region && `${region}/`)
      return place ? { name: place + name, anyRegion: name, isUnmistakable } : { name, isUnmistakable }
    },
  },
  {
    seller: 'vertex_ai',
    isProvider: GOOGLE,
    read(model) {
      const [, name] = VERTEX.exec(model) ?? []
      return name === undefined ? undefined : { name, isUnmistakable: true }
    },
  },
  {
    seller: 'gemini',
    isProvider: GOOGLE,
    read(model) {
      const [, name] = GEMINI.exec(model) ?? []
      return name === undefined ? undefined : { name, isUnmistakable: /^gem(?:ini|ma)-/i.test(name) }
    },
  },
]

const RESOURCE = /^(?:bedrock\/)?(?:(?:converse|invoke)\/)?arn:|^projects\//i

/** Whether a name is an ARN or a path. Its other parts are names that a customer chose: a pattern must not match them. */
export function isResourceName(model: string): boolean {
  return RESOURCE.test(model)
}

const BY_REGION: UnpricedPart = {
  unpriced: 'model',
  reason: 'has prices that depend on the region, and none for this one',
}

/**
 * Finds the entries for a name that a producer sent: those for the name as it is, else those for the model that it stands for. Reads
 * only names of the run's provider; where the run has none, only names that no other seller writes. A price without a region is for a
 * region if no region in the list has another price.
 */
export function findByName<Entry extends PriceEntry>(
  provider: string | undefined,
  model: string,
  find: Find<Entry>,
): Found<Entry> {
  const { seller, named } = readName(provider, model)
  const exact = find(seller, model)
  if (!named || !isNone(exact)) return exact
  const found = find(seller, named.name)
  const { anyRegion } = named
  if (anyRegion === undefined || !isNone(found)) return found
  const base = find(seller, anyRegion)
  if (isNone(base)) return base
  const differs = PLACES.some((place) => {
    const other = find(seller, place + anyRegion)
    return !isNone(other) && !isSame(other, base)
  })
  return differs ? BY_REGION : base
}

function readName(
  provider: string | undefined,
  model: string,
): { readonly seller?: string; readonly named?: NamedModel } {
  for (const { seller, isProvider, read } of FORMS) {
    if (provider !== undefined && !isProvider.test(provider)) continue
    const named = read(model)
    if (named && (provider !== undefined || named.isUnmistakable)) return { seller: provider ?? seller, named }
  }
  return provider === undefined ? {} : { seller: provider }
}

function isNone<Entry>(found: Found<Entry>): boolean {
  return 'length' in found && found.length === 0
}

function isSame(one: Found<PriceEntry>, other: Found<PriceEntry>): boolean {
  return 'length' in one && 'length' in other && samePrices(one, other)
}
