import { all, at, atEach, countOrTotal, type ReadCount, type ReadShape, reader, synonyms } from './shape.ts'
import { LANGCHAIN_TIERS } from './tier.ts'

/**
 * OpenAI's chat completions and compatible providers. Prompt includes the cache and completion includes reasoning:
 * `CompletionUsage` in `openai` defines `total_tokens` as "prompt + completion" and reasoning as "still counted in the total
 * completion tokens". DeepSeek: `prompt_tokens` is hits plus misses. Mistral and Kimi put cached tokens at the top.
 */
export const openAIChat: ReadShape = reader({
  input: at('prompt_tokens'),
  cacheRead: synonyms(
    at('prompt_tokens_details', 'cached_tokens'),
    at('cache_read_input_tokens'),
    at('prompt_cache_hit_tokens'),
    at('cached_tokens'),
    at('num_cached_tokens'),
  ),
  cacheWrite: synonyms(
    at('prompt_tokens_details', 'cache_write_tokens'),
    at('prompt_tokens_details', 'cache_creation_tokens'),
    at('cache_creation_input_tokens'),
  ),
  output: at('completion_tokens'),
  reasoning: synonyms(at('completion_tokens_details', 'reasoning_tokens'), at('reasoning_tokens')),
  total: at('total_tokens'),
})

/** {@link openAIChat} as the SDKs of Mistral and OpenRouter write it, and the AI SDK before 5. */
export const camelCaseChat: ReadShape = reader({
  input: at('promptTokens'),
  cacheRead: synonyms(at('promptTokensDetails', 'cachedTokens'), at('numCachedTokens'), at('promptCacheHitTokens')),
  cacheWrite: synonyms(at('promptTokensDetails', 'cacheWriteTokens'), at('promptTokensDetails', 'cacheCreationTokens')),
  output: at('completionTokens'),
  reasoning: synonyms(at('completionTokensDetails', 'reasoningTokens'), at('reasoningTokens')),
  total: at('totalTokens'),
})

/**
 * OpenAI's responses and realtime (`RealtimeResponseUsage` in `openai`), Codex (`Usage` in `@openai/codex-sdk`) and LangChain's
 * `UsageMetadata`: inclusive counts. LangChain leaves cache writes with a known life out of `cache_creation`, and in Python counts of a
 * service tier out of the others: `flex_cache_read`.
 */
export const openAIResponses: ReadShape = reader({
  input: at('input_tokens'),
  cacheRead: synonyms(
    at('input_tokens_details', 'cached_tokens'),
    at('input_token_details', 'cached_tokens'),
    all(...ofTiers('input_token_details', 'cache_read')),
    at('cached_input_tokens'),
    at('cache_read_input_tokens'),
  ),
  cacheWrite: synonyms(
    at('input_tokens_details', 'cache_write_tokens'),
    all(
      at('input_token_details', 'cache_creation'),
      at('input_token_details', 'ephemeral_5m_input_tokens'),
      at('input_token_details', 'ephemeral_1h_input_tokens'),
    ),
    at('cache_write_input_tokens'),
    at('cache_creation_input_tokens'),
  ),
  output: at('output_tokens'),
  reasoning: synonyms(
    at('output_tokens_details', 'reasoning_tokens'),
    at('output_tokens_details', 'thinking_tokens'),
    all(...ofTiers('output_token_details', 'reasoning')),
    at('reasoning_output_tokens'),
    at('reasoning_tokens'),
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
  cacheWrite: synonyms(
    at('cache_creation_input_tokens'),
    all(at('cache_creation', 'ephemeral_5m_input_tokens'), at('cache_creation', 'ephemeral_1h_input_tokens')),
  ),
  cache: 'beside',
  output: at('output_tokens'),
  reasoning: synonyms(at('output_tokens_details', 'thinking_tokens'), at('reasoning_tokens')),
})

/**
 * Bedrock's Converse, Nova's names for it, the metrics of InvokeModel (`amazon-bedrock-invocationMetrics`), and `ModelUsage` of the
 * Claude Agent SDK: input without cache (Bedrock user guide).
 */
export const bedrock: ReadShape = reader({
  input: synonyms(at('inputTokens'), at('inputTokenCount')),
  cacheRead: synonyms(at('cacheReadInputTokens'), at('cacheReadInputTokenCount')),
  cacheWrite: synonyms(at('cacheWriteInputTokens'), at('cacheWriteInputTokenCount'), at('cacheCreationInputTokens')),
  cache: 'beside',
  output: synonyms(at('outputTokens'), at('outputTokenCount')),
  reasoning: at('thinkingTokens'),
  total: at('totalTokens'),
})

/**
 * The AI SDK: flat since 5, with details since 6 (`LanguageModelUsage` in `ai`), and as its providers write it, where each side has
 * its `total` and the parts of it (`LanguageModelV3Usage` in `@ai-sdk/provider`). Its total may "include reasoning tokens" that the
 * output leaves out (`LanguageModelV2Usage`). The OpenAI Agents SDK has the same names, and details for every call (`Usage` in
 * `@openai/agents-core`); Codex in camel case is flat. Sallyport's own names are read too.
 */
export const totalsAndParts: ReadShape = reader({
  input: countOrTotal('inputTokens'),
  cacheRead: synonyms(
    at('inputTokenDetails', 'cacheReadTokens'),
    at('inputTokens', 'cacheRead'),
    at('cachedInputTokens'),
    atEach('inputTokensDetails', 'cached_tokens'),
    atEach('inputTokensDetails', 'cachedTokens'),
    at('cacheReadTokens'),
  ),
  cacheWrite: synonyms(
    at('inputTokenDetails', 'cacheWriteTokens'),
    at('inputTokens', 'cacheWrite'),
    atEach('inputTokensDetails', 'cacheWriteTokens'),
    at('cacheWriteInputTokens'),
    at('cacheWriteTokens'),
  ),
  output: countOrTotal('outputTokens'),
  reasoning: synonyms(
    at('outputTokenDetails', 'reasoningTokens'),
    at('outputTokens', 'reasoning'),
    atEach('outputTokensDetails', 'reasoning_tokens'),
    atEach('outputTokensDetails', 'reasoningTokens'),
    at('reasoningOutputTokens'),
    at('reasoningTokens'),
  ),
  total: at('totalTokens'),
})

/** `usageMetadata` of the Gemini API, of Vertex and of the Live API, which writes `responseTokenCount`. */
export const GEMINI_KEYS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'responseTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
] as const

/** As the Python SDKs of Gemini and Vertex write it. */
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
 * Gemini under the names of one of its interfaces. The prompt includes the cache. Tool use and thoughts are extra: the total "is
 * the sum of `prompt_token_count`, `candidates_token_count`, `tool_use_prompt_token_count`, and `thoughts_token_count`"
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
    output: synonyms(at(candidates), at(response)),
    reasoning: at(thoughts),
    thinking: 'beside',
    total: at(total),
  })
}

/** A count of LangChain's details, of every service tier. */
function ofTiers(details: string, name: string): readonly ReadCount[] {
  return ['', ...LANGCHAIN_TIERS.map((tier) => `${tier}_`)].map((tier) => at(details, `${tier}${name}`))
}
