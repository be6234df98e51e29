import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isEmpty } from '../model/totals.ts'
import { USAGE_COUNTS, type UsageCount } from './counts.ts'
import { usageParts } from './parts.ts'
import {
  bedrockLlama,
  cohereBilled,
  cohereProcessed,
  genAiAttributes,
  langfuse,
  ollama,
  textGeneration,
  titan,
  watsonx,
} from './platform-shapes.ts'
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
  totalsAndParts,
} from './provider-shapes.ts'
import type { ReadShape, Usage } from './shape.ts'
import { usageTier } from './tier.ts'

/** Inclusive counts of a usage object (input includes the cache, output includes reasoning), and its service tier. */
export interface ReadUsage {
  readonly counts: Partial<Record<UsageCount, number>>
  readonly serviceTier?: string
}

export const UNKNOWN_USAGE: ReadUsage = Object.freeze({ counts: {} })

/**
 * Reads a provider's usage object. Absent and `null` counts stay unknown. `undefined`: nothing is understood of the numbers in it.
 * Does not guess: only a total may decide whether output includes reasoning.
 *
 * @param faults Receives invalid counts, and sums above 2^53 - 1.
 */
export function readUsage(usage: unknown, faults: ReadFault[]): ReadUsage | undefined {
  const members = membersOf(usage)
  if (!members) return undefined
  const found: ReadFault[] = []
  const shape = shapeOf(members)
  if (!shape) return undefined
  const reported = { ...shape(members, found), ...usageParts(members, found) }
  const counts: Partial<Record<UsageCount, number>> = {}
  for (const key of USAGE_COUNTS) {
    const count = reported[key]
    if (count === undefined) continue
    if (count <= Number.MAX_SAFE_INTEGER) counts[key] = count
    else found.push({ code: 'out_of_range', detail: `adds up to more than 2^53 - 1 as ${key}` })
  }
  faults.push(...found)
  if (isEmpty(counts) && found.length === 0 && holdsNumber(members)) return undefined
  const serviceTier = usageTier(members)
  return serviceTier === undefined ? { counts } : { counts, serviceTier }
}

function holdsNumber(value: unknown): boolean {
  if (typeof value === 'number') return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber)
}

const EMPTY_USAGE: ReadShape = () => ({})

/** The first shape with a matching key wins, so the specific ones are first. A repeated key identifies the last of its shapes. */
const SHAPES: readonly (readonly [ReadShape, ...(readonly string[])])[] = [
  [cohereBilled, 'billed_units', 'billedUnits'],
  [bedrockLlama, 'generation_token_count'],
  [gemini(GEMINI_KEYS), ...GEMINI_KEYS],
  [gemini(GEMINI_SNAKE_CASE_KEYS), ...GEMINI_SNAKE_CASE_KEYS],
  [gemini(GEMINI_INTERACTIONS_KEYS), ...GEMINI_INTERACTIONS_KEYS],
  // Gateways add Anthropic's cache keys to OpenAI's chat usage, whose prompt includes the cache.
  [openAIChat, 'prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  // Anthropic has no input details: an input with details includes the cache, whatever the other keys are.
  [openAIResponses, 'input_tokens_details', 'input_token_details', 'cached_input_tokens', 'reasoning_output_tokens'],
  [anthropic, 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'],
  // Anthropic without a cache has the same keys and meaning.
  [openAIResponses, 'input_tokens', 'output_tokens', 'output_tokens_details', 'output_token_details', 'total_tokens'],
  // In camel case, Codex shares the name of a cache write with Bedrock, and includes it.
  [totalsAndParts, 'cachedInputTokens', 'reasoningOutputTokens', 'inputTokensDetails', 'outputTokensDetails'],
  [bedrock, 'inputTokenCount', 'outputTokenCount'],
  [bedrock, 'cacheReadInputTokens', 'cacheWriteInputTokens', 'cacheCreationInputTokens'],
  [bedrock, 'cacheReadInputTokenCount', 'cacheWriteInputTokenCount'],
  // Bedrock without a cache has the same keys and meaning.
  [totalsAndParts, 'inputTokens', 'outputTokens', 'inputTokenDetails', 'outputTokenDetails'],
  [totalsAndParts, 'cacheReadTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'reasoningTokens'],
  [totalsAndParts, 'audioInputTokens', 'imageInputTokens', 'audioOutputTokens', 'imageOutputTokens'],
  [camelCaseChat, 'promptTokens', 'completionTokens', 'totalTokens'],
  [genAiAttributes, 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  [genAiAttributes, 'gen_ai.usage.prompt_tokens', 'gen_ai.usage.completion_tokens'],
  [ollama, 'prompt_eval_count', 'eval_count', 'promptEvalCount', 'evalCount'],
  [titan, 'inputTextTokenCount', 'totalOutputTextTokenCount'],
  [watsonx, 'input_token_count', 'generated_token_count', 'results'],
  [textGeneration, 'generated_tokens', 'input_length'],
  [langfuse, 'input', 'output'],
  [cohereProcessed, 'tokens', 'cached_tokens', 'cachedTokens'],
  // Counts of `usageParts` alone.
  [EMPTY_USAGE, 'seconds', 'characters'],
]

const RANK_OF_KEY: ReadonlyMap<string, number> = new Map(
  SHAPES.flatMap(([, ...keys], rank) => keys.map((key): [string, number] => [key, rank])),
)

/** Finds the shape; `undefined`: the object has members, and none identifies a shape. */
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
