import { membersOf, type ReadFault } from '../../json/schema-readers.ts'
import { TOKEN_COUNTS, type TokenCount } from './counts.ts'
import {
  anthropic,
  bedrock,
  camelCaseChat,
  GEMINI_INTERACTIONS_KEYS,
  GEMINI_KEYS,
  GEMINI_SNAKE_CASE_KEYS,
  gemini,
  openAIChat,
  openAIResponses,
  type ReadShape,
  totalsAndParts,
  type Usage,
} from './provider-shapes.ts'

/** The inclusive counts of a usage object: input includes the cache, output includes reasoning. */
export type UsageCounts = Partial<Record<TokenCount, number>>

/** Stands for a usage object of no known shape. */
export const UNKNOWN_USAGE: UsageCounts = Object.freeze({})

/**
 * Reads a provider's usage object as it came: OpenAI (chat, responses, realtime), Anthropic, Gemini, Bedrock, the AI SDK, and
 * those that use one of these shapes. Absent and `null` counts stay unknown; an empty object has no counts. `undefined`: no
 * known shape. Nothing is guessed: only a total may decide whether output includes reasoning; other contradictions stay.
 *
 * @param faults Gets values that are no counts, and sums above 2^53 - 1.
 */
export function readUsage(usage: unknown, faults: ReadFault[]): UsageCounts | undefined {
  const members = membersOf(usage)
  if (!members) return undefined
  const reported = shapeOf(members)?.(members, faults)
  if (!reported) return undefined
  const counts: UsageCounts = {}
  for (const key of TOKEN_COUNTS) {
    const count = reported[key]
    if (count === undefined) continue
    if (count <= Number.MAX_SAFE_INTEGER) counts[key] = count
    else faults.push({ code: 'out_of_range', detail: `adds up to more than 2^53 - 1 as ${key}` })
  }
  return counts
}

/**
 * The shapes, each with the keys that identify it. The first shape with a matching key wins, so the specific ones stand first.
 * A key that several shapes list, such as `total_tokens`, identifies the last of them.
 */
const SHAPES: readonly (readonly [ReadShape, ...(readonly string[])])[] = [
  [gemini(GEMINI_KEYS), ...GEMINI_KEYS],
  [gemini(GEMINI_SNAKE_CASE_KEYS), ...GEMINI_SNAKE_CASE_KEYS],
  [gemini(GEMINI_INTERACTIONS_KEYS), ...GEMINI_INTERACTIONS_KEYS],
  // Gateways add Anthropic's cache keys to OpenAI's chat usage, whose prompt includes the cache.
  [openAIChat, 'prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  // Anthropic has no input details: an input with details includes the cache, whatever other keys there are.
  [openAIResponses, 'input_tokens_details', 'input_token_details'],
  [anthropic, 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'],
  // Anthropic without a cache reads the same, and means the same.
  [openAIResponses, 'input_tokens', 'output_tokens', 'output_tokens_details', 'output_token_details', 'total_tokens'],
  [bedrock, 'cacheReadInputTokens', 'cacheWriteInputTokens', 'cacheCreationInputTokens'],
  [bedrock, 'cacheReadInputTokenCount', 'cacheWriteInputTokenCount'],
  // Bedrock without a cache reads the same, and means the same.
  [totalsAndParts, 'inputTokens', 'outputTokens', 'inputTokenDetails', 'outputTokenDetails'],
  [totalsAndParts, 'cachedInputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'],
  [camelCaseChat, 'promptTokens', 'completionTokens', 'totalTokens'],
]

const RANK_OF_KEY: ReadonlyMap<string, number> = new Map(
  SHAPES.flatMap(([, ...keys], rank) => keys.map((key): [string, number] => [key, rank])),
)

const EMPTY_USAGE: ReadShape = () => ({})

/** The shape of a usage object; `undefined`: it has members, and none identifies a shape. */
function shapeOf(usage: Usage): ReadShape | undefined {
  let first = SHAPES.length
  let isEmpty = true
  for (const key in usage) {
    if (usage[key] === undefined || usage[key] === null) continue
    isEmpty = false
    const rank = RANK_OF_KEY.get(key)
    if (rank !== undefined && rank < first) first = rank
  }
  return isEmpty ? EMPTY_USAGE : SHAPES[first]?.[0]
}
