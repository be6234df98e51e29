import type { Shape } from './shape.ts'
import { LANGCHAIN_TIERS } from './tier.ts'

/** Names of the cache in Bedrock's metrics. */
const METRICS_CACHE = ['cache_read_input_token_count', 'cache_write_input_token_count']

/**
 * OpenAI's chat completions and compatible providers, with the SDKs of Mistral and OpenRouter, and the AI SDK before 5. Prompt includes
 * the cache and completion includes reasoning: `CompletionUsage` in `openai` defines `total_tokens` as "prompt + completion" and
 * reasoning as "still counted in the total completion tokens". DeepSeek: `prompt_tokens` is hits plus misses. Mistral and Kimi put cached
 * tokens at the top.
 */
export const openAIChat: Shape = {
  input: ['prompt_tokens'],
  cacheRead: [
    'prompt_tokens_details/cached_tokens',
    'prompt_token_details/cached_tokens',
    'cached_prompt_text_tokens',
    'cache_read_input_tokens',
    'prompt_cache_hit_tokens',
    'cached_tokens',
    'num_cached_tokens',
  ],
  cacheWrite: [
    'prompt_tokens_details/cache_write_tokens',
    'prompt_tokens_details/cache_creation_tokens',
    'prompt_tokens_details/cache_creation_input_tokens',
    ofLives('prompt_tokens_details/cache_creation'),
    ofLives('prompt_tokens_details/cache_creation_token_details'),
    'cache_creation_input_tokens',
    ofLives('cache_creation'),
  ],
  output: ['completion_tokens'],
  reasoning: ['completion_tokens_details/reasoning_tokens', 'reasoning_tokens'],
  total: ['total_tokens'],
}

/**
 * Inclusive counts as input and output:
 * - OpenAI's responses and realtime (`RealtimeResponseUsage` in `openai`), and {@link codex} (`Usage` in `@openai/codex-sdk`).
 * - The OpenAI Agents SDK, with details for every call (`Usage` in `@openai/agents-core`).
 * - LangChain's `UsageMetadata`, which leaves cache writes with a known life out of `cache_creation`, and in Python counts of a service
 *   tier out of the others: `flex_cache_read`.
 * - The AI SDK: flat since 5, with details since 6 (`LanguageModelUsage` in `ai`). Its total may "include reasoning tokens" that the
 *   output leaves out (`LanguageModelV2Usage`).
 * - pydantic-ai (`RunUsage`), and Sallyport's own names.
 */
export const openAIResponses: Shape = {
  unclear: ['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_write_input_tokens'],
  input: ['input_tokens'],
  cacheRead: [
    ...ofCalls('input_tokens_details', 'cached_tokens'),
    'input_token_details/cached_tokens',
    'input_token_details/cache_read_tokens',
    ofTiers('input_token_details', 'cache_read'),
    'cached_input_tokens',
    'cache_read_input_tokens',
    'cache_read_tokens',
  ],
  cacheWrite: [
    ...ofCalls('input_tokens_details', 'cache_write_tokens'),
    'input_token_details/cache_write_tokens',
    `input_token_details/cache_creation+${ofLives('input_token_details')}`,
    'x_details/*/prompt_tokens_details/cache_creation_input_tokens',
    'cache_write_input_tokens',
    'cache_creation_input_tokens',
    'cache_write_tokens',
    'cache_write_5m_tokens+cache_write_1h_tokens',
    ofLives('cache_creation'),
  ],
  output: ['output_tokens'],
  reasoning: [
    ...ofCalls('output_tokens_details', 'reasoning_tokens'),
    'output_tokens_details/thinking_tokens',
    'output_token_details/reasoning_tokens',
    ofTiers('output_token_details', 'reasoning'),
    'reasoning_output_tokens',
    'output_reasoning_tokens',
    'details/reasoning_tokens',
    'reasoning_tokens',
  ],
  total: ['total_tokens'],
}

/** Codex shares Bedrock's name of a cache write, and includes it. */
export const codex: Shape = {
  ...openAIResponses,
  needs: ['cached_input_tokens', 'reasoning_output_tokens'],
  unclear: ['cache_read_input_tokens', 'cache_creation_input_tokens', ...METRICS_CACHE],
}

/** The usage that providers of the AI SDK return: each side has its `total`, and the parts of it (`LanguageModelV3Usage` in `@ai-sdk/provider`). */
export const aiSdkProvider: Shape = {
  input: ['input_tokens/total'],
  cacheRead: ['input_tokens/cache_read'],
  cacheWrite: ['input_tokens/cache_write'],
  output: ['output_tokens/total'],
  reasoning: ['output_tokens/reasoning'],
}

/**
 * Input without the cache:
 * - Anthropic's messages, whole or streamed; streamed counts are cumulative. "Total input tokens in a request is the summation of
 *   `input_tokens`, `cache_creation_input_tokens`, and `cache_read_input_tokens`", while `output_tokens` "remains the inclusive,
 *   authoritative total" (`Usage` in `@anthropic-ai/sdk`).
 * - `ModelUsage` of the Claude Agent SDK.
 * - Bedrock's Converse, Nova's names for it, and the metrics of InvokeModel, `amazon-bedrock-invocationMetrics` (Bedrock user guide).
 *
 * An input with details includes the cache, whatever the other names are.
 */
export const anthropic: Shape = {
  needs: [
    ...['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_write_input_tokens', 'cache_creation'],
    ...['cache_details', 'input_token_count', 'output_token_count'],
    ...METRICS_CACHE,
  ],
  lacks: ['input_tokens_details', 'input_token_details', 'cached_input_tokens', 'reasoning_output_tokens'],
  unclear: ['cache_read_tokens', 'cache_write_tokens'],
  input: ['input_tokens', 'input_token_count'],
  cacheRead: ['cache_read_input_tokens', 'cache_read_input_token_count'],
  cacheWrite: [
    'cache_creation_input_tokens',
    'cache_write_input_tokens',
    'cache_write_input_token_count',
    ofLives('cache_creation'),
    'cache_details/5m_tokens+cache_details/1h_tokens',
  ],
  cache: 'beside',
  output: ['output_tokens', 'output_token_count'],
  reasoning: ['output_tokens_details/thinking_tokens', 'thinking_tokens', 'reasoning_tokens'],
  total: ['total_tokens'],
}

/** {@link anthropic} as the log of Claude Code writes it. */
export const claudeCode: Shape = {
  needs: ['cache_creation_tokens'],
  input: ['input_tokens'],
  cacheRead: ['cache_read_tokens'],
  cacheWrite: ['cache_creation_tokens'],
  cache: 'beside',
  output: ['output_tokens'],
}

/**
 * `usageMetadata` of the Gemini API, of Vertex and of the Live API, which writes `responseTokenCount`. The prompt includes the cache.
 * Tool use and thoughts are extra: the total "is the sum of `prompt_token_count`, `candidates_token_count`,
 * `tool_use_prompt_token_count`, and `thoughts_token_count`" (`GenerateContentResponseUsageMetadata` in `@google/genai`).
 */
export const gemini: Shape = {
  input: ['prompt_token_count'],
  toolUse: ['tool_use_prompt_token_count'],
  cacheRead: ['cached_content_token_count'],
  output: ['candidates_token_count', 'response_token_count'],
  reasoning: ['thoughts_token_count'],
  thinking: 'beside',
  total: ['total_token_count'],
}

/** {@link gemini} as the log of Gemini CLI writes it, in the names that Bedrock's metrics have for input and output. */
export const geminiCli: Shape = {
  ...gemini,
  needs: ['thoughts_token_count', 'tool_token_count', 'cached_content_token_count'],
  lacks: ['prompt_token_count', 'cache_read_input_tokens', 'cache_write_input_tokens', ...METRICS_CACHE],
  input: ['input_token_count'],
  toolUse: ['tool_token_count'],
  output: ['output_token_count'],
}

/** {@link gemini} as the Interactions API writes it. */
export const geminiInteractions: Shape = {
  input: ['total_input_tokens'],
  toolUse: ['total_tool_use_tokens'],
  cacheRead: ['total_cached_tokens'],
  output: ['total_output_tokens'],
  reasoning: ['total_thought_tokens'],
  thinking: 'beside',
  total: ['total_tokens'],
}

/** A count of LangChain's details, of every service tier. */
function ofTiers(details: string, name: string): string {
  return ['', ...LANGCHAIN_TIERS.map((tier) => `${tier}_`)].map((tier) => `${details}/${tier}${name}`).join('+')
}

/** Cache writes by their life. */
function ofLives(details: string): string {
  return `${details}/ephemeral_5m_input_tokens+${details}/ephemeral_1h_input_tokens`
}

/** A count of details that may be a list, one item for each call. */
function ofCalls(details: string, name: string): readonly string[] {
  return [`${details}/${name}`, `${details}/*/${name}`]
}
