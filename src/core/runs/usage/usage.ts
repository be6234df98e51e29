import { membersOf, type ReadFault } from '../../json/schema-readers.ts'
import { TOKEN_COUNTS, type TokenCount } from '../merge/counts.ts'
import type { ReadShape, Usage } from './usage-count.ts'
import { GEMINI, GEMINI_INTERACTIONS, GEMINI_SNAKE_CASE } from './usage-gemini.ts'
import { anthropic, bedrock, camelCaseChat, openAIChat, openAIResponses, totalsAndParts } from './usage-shapes.ts'

/** Counts that a usage object told, inclusive: input with what the cache gave and took, output with reasoning. */
export type UsageCounts = Partial<Record<TokenCount, number>>

/** Stands for a usage object that tells something, but in nobody's words. */
export const NOBODYS_USAGE: UsageCounts = Object.freeze({})

/**
 * Reads a provider's usage object as it came: OpenAI (chat, responses, realtime), Anthropic, Gemini, Bedrock, the AI SDK, and
 * those that speak as one of them. What is absent or `null` stays unknown; an object that tells nothing has no counts.
 * `undefined`: it tells something, but in nobody's words. Nothing is guessed: a total may say where reasoning stands, and
 * counts that contradict each other otherwise are given out as they are.
 *
 * @param faults Gets what is no count, and sums above 2^53 - 1.
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
 * Whose words a usage object may be in, by the keys that give them away. Where it has keys of several, the first of these
 * wins: the more particular come before those whose keys others use too. A key that several list is the last one's, such as
 * `total_tokens`, which everybody has.
 */
const SHAPES: readonly (readonly [ReadShape, ...(readonly string[])])[] = [
  [GEMINI.read, ...GEMINI.keys],
  [GEMINI_SNAKE_CASE.read, ...GEMINI_SNAKE_CASE.keys],
  [GEMINI_INTERACTIONS.read, ...GEMINI_INTERACTIONS.keys],
  // Gateways add Anthropic's cache keys to OpenAI's chat usage, whose prompt includes the cache.
  [openAIChat, 'prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  // Anthropic has no details of the input: who tells them includes the cache, whatever keys stand beside.
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

const NOTHING: ReadShape = () => ({})

/** `undefined`: it tells something, but in nobody's words. */
function shapeOf(usage: Usage): ReadShape | undefined {
  let first = SHAPES.length
  let tells = false
  for (const key in usage) {
    if (usage[key] === undefined || usage[key] === null) continue
    tells = true
    const rank = RANK_OF_KEY.get(key)
    if (rank !== undefined && rank < first) first = rank
  }
  return tells ? SHAPES[first]?.[0] : NOTHING
}
