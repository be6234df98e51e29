import { membersOf, type ReadFault } from '../../json/schema-readers.ts'
import { isWhole, readWholeCount, type TokenCount } from './counts.ts'

/** A provider's usage object, as it came. */
export type Usage = Readonly<Record<string, unknown>>

/** Reads a usage object of one shape. Sums are not range-checked yet. */
export type ReadShape = (usage: Usage, faults: ReadFault[]) => { readonly [count in TokenCount]?: number | undefined }

/** Reads one count of a usage object. `undefined`: it is absent, or it is no count, which is a fault. */
type ReadCount = (usage: Usage, faults: ReadFault[]) => number | undefined

/** How one shape names its counts, and which counts include which. */
interface Shape {
  readonly input: ReadCount
  /** Input that `input` never includes. */
  readonly toolUse?: ReadCount
  readonly cacheRead: ReadCount
  readonly cacheWrite?: ReadCount
  /** Whether `input` includes the cache (`within`, the default) or leaves it out (`beside`). */
  readonly cache?: 'within' | 'beside'
  readonly output: ReadCount
  readonly reasoning?: ReadCount
  /** Whether `output` usually includes reasoning (`within`, the default) or leaves it out (`beside`). */
  readonly thinking?: 'within' | 'beside'
  readonly total?: ReadCount
}

/**
 * OpenAI's chat completions, and the many providers that speak it. Prompt includes the cache and completion includes
 * reasoning: `CompletionUsage` in `openai` defines `total_tokens` as "prompt + completion" and reasoning as "still counted in
 * the total completion tokens". DeepSeek: `prompt_tokens` is hits plus misses. Mistral and Kimi put cached tokens at the top.
 */
export const openAIChat: ReadShape = reader({
  input: at('prompt_tokens'),
  cacheRead: first(
    at('prompt_tokens_details', 'cached_tokens'),
    at('cache_read_input_tokens'),
    at('prompt_cache_hit_tokens'),
    at('cached_tokens'),
    at('num_cached_tokens'),
  ),
  cacheWrite: first(at('prompt_tokens_details', 'cache_write_tokens'), at('cache_creation_input_tokens')),
  output: at('completion_tokens'),
  reasoning: at('completion_tokens_details', 'reasoning_tokens'),
  total: at('total_tokens'),
})

/** {@link openAIChat} as the SDKs of Mistral and OpenRouter write it, and the AI SDK before 5. */
export const camelCaseChat: ReadShape = reader({
  input: at('promptTokens'),
  cacheRead: at('promptTokensDetails', 'cachedTokens'),
  cacheWrite: at('promptTokensDetails', 'cacheWriteTokens'),
  output: at('completionTokens'),
  reasoning: at('completionTokensDetails', 'reasoningTokens'),
  total: at('totalTokens'),
})

/**
 * OpenAI's responses and realtime ("input tokens will include cached and uncached tokens", `RealtimeResponseUsage` in
 * `openai`), and LangChain's `UsageMetadata` ("sum of all input token types").
 */
export const openAIResponses: ReadShape = reader({
  input: at('input_tokens'),
  cacheRead: first(
    at('input_tokens_details', 'cached_tokens'),
    at('input_token_details', 'cached_tokens'),
    at('input_token_details', 'cache_read'),
    at('cache_read_input_tokens'),
  ),
  cacheWrite: first(
    at('input_tokens_details', 'cache_write_tokens'),
    at('input_token_details', 'cache_creation'),
    at('cache_creation_input_tokens'),
  ),
  output: at('output_tokens'),
  reasoning: first(
    at('output_tokens_details', 'reasoning_tokens'),
    at('output_tokens_details', 'thinking_tokens'),
    at('output_token_details', 'reasoning'),
  ),
  total: at('total_tokens'),
})

/**
 * Anthropic's messages, whole or streamed; streamed counts are cumulative. "Total input tokens in a request is the summation of
 * `input_tokens`, `cache_creation_input_tokens`, and `cache_read_input_tokens`", while `output_tokens` "remains the inclusive,
 * authoritative total" (`Usage` in `@anthropic-ai/sdk`).
 */
export const anthropic: ReadShape = reader({
  input: at('input_tokens'),
  cacheRead: at('cache_read_input_tokens'),
  cacheWrite: first(at('cache_creation_input_tokens'), (usage, faults) =>
    sum(
      countAt(usage, faults, 'cache_creation', 'ephemeral_5m_input_tokens'),
      countAt(usage, faults, 'cache_creation', 'ephemeral_1h_input_tokens'),
    ),
  ),
  cache: 'beside',
  output: at('output_tokens'),
  reasoning: at('output_tokens_details', 'thinking_tokens'),
})

/**
 * Bedrock's Converse, Nova's own names for it, and `ModelUsage` of the Claude Agent SDK: "total input tokens = inputTokens +
 * cacheReadInputTokens + cacheWriteInputTokens" (Amazon Bedrock user guide, prompt caching).
 */
export const bedrock: ReadShape = reader({
  input: at('inputTokens'),
  cacheRead: first(at('cacheReadInputTokens'), at('cacheReadInputTokenCount')),
  cacheWrite: first(at('cacheWriteInputTokens'), at('cacheWriteInputTokenCount'), at('cacheCreationInputTokens')),
  cache: 'beside',
  output: at('outputTokens'),
  total: at('totalTokens'),
})

/**
 * The AI SDK: flat since 5, with details since 6 (`LanguageModelUsage` in `ai`), and as its providers write it, where each side
 * has its `total` and the parts of it (`LanguageModelV3Usage` in `@ai-sdk/provider`). Its total may "include reasoning tokens"
 * that the output leaves out (`LanguageModelV2Usage`). The OpenAI Agents SDK has the same names, and details for every call
 * (`Usage` in `@openai/agents-core`). Sallyport's own names are read too.
 */
export const totalsAndParts: ReadShape = reader({
  input: countOrTotal('inputTokens'),
  cacheRead: first(
    at('inputTokenDetails', 'cacheReadTokens'),
    at('inputTokens', 'cacheRead'),
    at('cachedInputTokens'),
    atEach('inputTokensDetails', 'cached_tokens'),
    at('cacheReadTokens'),
  ),
  cacheWrite: first(
    at('inputTokenDetails', 'cacheWriteTokens'),
    at('inputTokens', 'cacheWrite'),
    at('cacheWriteTokens'),
  ),
  output: countOrTotal('outputTokens'),
  reasoning: first(
    at('outputTokenDetails', 'reasoningTokens'),
    at('outputTokens', 'reasoning'),
    atEach('outputTokensDetails', 'reasoning_tokens'),
    at('reasoningTokens'),
  ),
  total: at('totalTokens'),
})

/** `usageMetadata` of the Gemini API, of Vertex and of the Live API, which says `responseTokenCount`. */
export const GEMINI_KEYS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'responseTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
] as const

/** The same as the Python SDKs of Gemini and Vertex write it. */
export const GEMINI_SNAKE_CASE_KEYS = [
  'prompt_token_count',
  'cached_content_token_count',
  'tool_use_prompt_token_count',
  'candidates_token_count',
  'response_token_count',
  'thoughts_token_count',
  'total_token_count',
] as const

/** `usage` of the Interactions API. */
export const GEMINI_INTERACTIONS_KEYS = [
  'total_input_tokens',
  'total_cached_tokens',
  'total_tool_use_tokens',
  'total_output_tokens',
  'total_output_tokens',
  'total_thought_tokens',
  'total_tokens',
] as const

/**
 * Gemini under the names of one of its interfaces. The prompt includes the cache. Tool use and thoughts are extra: the total
 * "is the sum of `prompt_token_count`, `candidates_token_count`, `tool_use_prompt_token_count`, and `thoughts_token_count`"
 * (`GenerateContentResponseUsageMetadata` in `@google/genai`).
 */
export function gemini(
  keys: typeof GEMINI_KEYS | typeof GEMINI_SNAKE_CASE_KEYS | typeof GEMINI_INTERACTIONS_KEYS,
): ReadShape {
  const [prompt, cached, toolUse, candidates, response, thoughts, total] = keys
  return reader({
    input: at(prompt),
    toolUse: at(toolUse),
    cacheRead: at(cached),
    output: first(at(candidates), at(response)),
    reasoning: at(thoughts),
    thinking: 'beside',
    total: at(total),
  })
}

function reader(shape: Shape): ReadShape {
  const { input, toolUse, cacheRead, cacheWrite, cache, output, reasoning, thinking, total } = shape
  return (usage, faults) => {
    const cacheReadTokens = cacheRead(usage, faults)
    const cacheWriteTokens = cacheWrite?.(usage, faults)
    // Without the input itself, its parts are not all of it.
    const part = cache === 'beside' ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0
    const inputTokens = sumIfKnown(input(usage, faults), part + (toolUse?.(usage, faults) ?? 0))
    const reasoningTokens = reasoning?.(usage, faults)
    const totalTokens = total?.(usage, faults)
    const outputTokens = withReasoning(thinking, inputTokens, output(usage, faults), reasoningTokens, totalTokens)
    return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, totalTokens }
  }
}

/**
 * Gives the output with reasoning. A total that fits only one of the two ways decides, since servers differ: xAI leaves
 * reasoning out of OpenAI's `completion_tokens`, and some of Gemini's servers include it in `candidatesTokenCount`.
 */
function withReasoning(
  usually: 'within' | 'beside' = 'within',
  input: number | undefined,
  output: number | undefined,
  reasoning: number | undefined,
  total: number | undefined,
): number | undefined {
  if (output === undefined) return usually === 'beside' ? reasoning : undefined
  if (reasoning === undefined) return output
  if (input !== undefined && total === input + output && reasoning <= output) return output
  if (input !== undefined && total === input + output + reasoning) return output + reasoning
  return usually === 'beside' ? output + reasoning : output
}

function sumIfKnown(a: number | undefined, b: number): number | undefined {
  return a === undefined ? undefined : a + b
}

/** The sum of the known counts; `undefined` when neither is. */
function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0)
}

/** Reads `key`, or `inner` of the object at `key`. */
function at(key: string, inner?: string): ReadCount {
  return (usage, faults) => countAt(usage, faults, key, inner)
}

/** As {@link at}; details may also be a list, one item for each model call, whose counts are added. */
function atEach(key: string, inner: string): ReadCount {
  return (usage, faults) => {
    const details = usage[key]
    if (!Array.isArray(details)) return countAt(usage, faults, key, inner)
    return details.reduce((all: number | undefined, part: unknown, index) => {
      const count = readCount(membersOf(part)?.[inner], faults, () => [key, String(index), inner])
      return sum(all, count)
    }, undefined)
  }
}

function countOrTotal(key: string): ReadCount {
  return (usage, faults) => countAt(usage, faults, key, membersOf(usage[key]) ? 'total' : undefined)
}

/** The first count that is there. */
function first(...reads: readonly ReadCount[]): ReadCount {
  return (usage, faults) => {
    for (const read of reads) {
      const count = read(usage, faults)
      if (count !== undefined) return count
    }
    return undefined
  }
}

function countAt(usage: Usage, faults: ReadFault[], key: string, inner?: string): number | undefined {
  if (inner === undefined) return readCount(usage[key], faults, () => [key])
  return readCount(membersOf(usage[key])?.[inner], faults, () => [key, inner])
}

function readCount(value: unknown, faults: ReadFault[], path: () => readonly string[]): number | undefined {
  if (value === undefined || value === null) return undefined
  if (isWhole(value, 0)) return value + 0
  readWholeCount(value, 0, faults, path())
  return undefined
}
