import { membersOf, type ReadFault } from '../../json/schema-readers.ts'
import { countAmong, countAt, inputWith, type ReadShape, sum, type Usage, withReasoning } from './usage-count.ts'

/**
 * OpenAI's chat completions, and the many that speak it. Prompt includes the cache and completion the reasoning, as
 * `CompletionUsage` in `openai` says of `total_tokens` ("prompt + completion") and of reasoning ("still counted in the total
 * completion tokens"). DeepSeek: `prompt_tokens` is hits and misses together. Mistral and Kimi tell cached tokens at the top.
 */
export const openAIChat: ReadShape = (usage, faults) => {
  const inputTokens = countAt(usage, faults, 'prompt_tokens')
  const reasoningTokens = countAt(usage, faults, 'completion_tokens_details', 'reasoning_tokens')
  const output = countAt(usage, faults, 'completion_tokens')
  const totalTokens = countAt(usage, faults, 'total_tokens')
  return {
    inputTokens,
    cacheReadTokens:
      countAt(usage, faults, 'prompt_tokens_details', 'cached_tokens') ??
      countAt(usage, faults, 'cache_read_input_tokens') ??
      countAt(usage, faults, 'prompt_cache_hit_tokens') ??
      countAt(usage, faults, 'cached_tokens') ??
      countAt(usage, faults, 'num_cached_tokens'),
    cacheWriteTokens:
      countAt(usage, faults, 'prompt_tokens_details', 'cache_write_tokens') ??
      countAt(usage, faults, 'cache_creation_input_tokens'),
    outputTokens: withReasoning('within', inputTokens, output, reasoningTokens, totalTokens),
    reasoningTokens,
    totalTokens,
  }
}

/**
 * OpenAI's responses and realtime ("input tokens will include cached and uncached tokens", `RealtimeResponseUsage` in
 * `openai`), and LangChain's `UsageMetadata` ("sum of all input token types").
 */
export const openAIResponses: ReadShape = (usage, faults) => {
  const inputTokens = countAt(usage, faults, 'input_tokens')
  const output = countAt(usage, faults, 'output_tokens')
  const totalTokens = countAt(usage, faults, 'total_tokens')
  const reasoningTokens =
    countAt(usage, faults, 'output_tokens_details', 'reasoning_tokens') ??
    countAt(usage, faults, 'output_tokens_details', 'thinking_tokens') ??
    countAt(usage, faults, 'output_token_details', 'reasoning')
  return {
    inputTokens,
    cacheReadTokens:
      countAt(usage, faults, 'input_tokens_details', 'cached_tokens') ??
      countAt(usage, faults, 'input_token_details', 'cached_tokens') ??
      countAt(usage, faults, 'input_token_details', 'cache_read') ??
      countAt(usage, faults, 'cache_read_input_tokens'),
    cacheWriteTokens:
      countAt(usage, faults, 'input_tokens_details', 'cache_write_tokens') ??
      countAt(usage, faults, 'input_token_details', 'cache_creation') ??
      countAt(usage, faults, 'cache_creation_input_tokens'),
    outputTokens: withReasoning('within', inputTokens, output, reasoningTokens, totalTokens),
    reasoningTokens,
    totalTokens,
  }
}

/**
 * Anthropic's messages, whole or of a stream, whose counts are cumulative. "Total input tokens in a request is the summation of
 * `input_tokens`, `cache_creation_input_tokens`, and `cache_read_input_tokens`", while `output_tokens` "remains the inclusive,
 * authoritative total" (`Usage` in `@anthropic-ai/sdk`).
 */
export const anthropic: ReadShape = (usage, faults) => {
  const cacheReadTokens = countAt(usage, faults, 'cache_read_input_tokens')
  const cacheWriteTokens =
    countAt(usage, faults, 'cache_creation_input_tokens') ??
    sum(
      countAt(usage, faults, 'cache_creation', 'ephemeral_5m_input_tokens'),
      countAt(usage, faults, 'cache_creation', 'ephemeral_1h_input_tokens'),
    )
  return {
    inputTokens: inputWith(countAt(usage, faults, 'input_tokens'), cacheReadTokens, cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: countAt(usage, faults, 'output_tokens'),
    reasoningTokens: countAt(usage, faults, 'output_tokens_details', 'thinking_tokens'),
  }
}

/**
 * Bedrock's Converse, Nova's own names for it, and `ModelUsage` of the Claude Agent SDK. Input is only what the cache had no
 * part in: "total input tokens = inputTokens + cacheReadInputTokens + cacheWriteInputTokens" (Amazon Bedrock user guide,
 * prompt caching).
 */
export const bedrock: ReadShape = (usage, faults) => {
  const cacheReadTokens =
    countAt(usage, faults, 'cacheReadInputTokens') ?? countAt(usage, faults, 'cacheReadInputTokenCount')
  const cacheWriteTokens =
    countAt(usage, faults, 'cacheWriteInputTokens') ??
    countAt(usage, faults, 'cacheWriteInputTokenCount') ??
    countAt(usage, faults, 'cacheCreationInputTokens')
  return {
    inputTokens: inputWith(countAt(usage, faults, 'inputTokens'), cacheReadTokens, cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: countAt(usage, faults, 'outputTokens'),
    totalTokens: countAt(usage, faults, 'totalTokens'),
  }
}

/**
 * The AI SDK: flat since 5, with details since 6 (`LanguageModelUsage` in `ai`), and as its providers give it, each side with
 * its `total` and the parts of it (`LanguageModelV3Usage` in `@ai-sdk/provider`). Its total may "include reasoning tokens"
 * beside the output (`LanguageModelV2Usage`). The OpenAI Agents SDK has the same names, and details for every call (`Usage` in
 * `@openai/agents-core`). Counts by the names that they have here are read too.
 */
export const totalsAndParts: ReadShape = (usage, faults) => {
  const inputTokens = countOrTotal(usage, faults, 'inputTokens')
  const output = countOrTotal(usage, faults, 'outputTokens')
  const totalTokens = countAt(usage, faults, 'totalTokens')
  const reasoningTokens =
    countAt(usage, faults, 'outputTokenDetails', 'reasoningTokens') ??
    countAt(usage, faults, 'outputTokens', 'reasoning') ??
    countAmong(usage, faults, 'outputTokensDetails', 'reasoning_tokens') ??
    countAt(usage, faults, 'reasoningTokens')
  return {
    inputTokens,
    cacheReadTokens:
      countAt(usage, faults, 'inputTokenDetails', 'cacheReadTokens') ??
      countAt(usage, faults, 'inputTokens', 'cacheRead') ??
      countAt(usage, faults, 'cachedInputTokens') ??
      countAmong(usage, faults, 'inputTokensDetails', 'cached_tokens') ??
      countAt(usage, faults, 'cacheReadTokens'),
    cacheWriteTokens:
      countAt(usage, faults, 'inputTokenDetails', 'cacheWriteTokens') ??
      countAt(usage, faults, 'inputTokens', 'cacheWrite') ??
      countAt(usage, faults, 'cacheWriteTokens'),
    outputTokens: withReasoning('within', inputTokens, output, reasoningTokens, totalTokens),
    reasoningTokens,
    totalTokens,
  }
}

/** {@link openAIChat} as the SDKs of Mistral and OpenRouter give it out, and the AI SDK before 5. */
export const camelCaseChat: ReadShape = (usage, faults) => {
  const inputTokens = countAt(usage, faults, 'promptTokens')
  const output = countAt(usage, faults, 'completionTokens')
  const totalTokens = countAt(usage, faults, 'totalTokens')
  const reasoningTokens = countAt(usage, faults, 'completionTokensDetails', 'reasoningTokens')
  return {
    inputTokens,
    cacheReadTokens: countAt(usage, faults, 'promptTokensDetails', 'cachedTokens'),
    cacheWriteTokens: countAt(usage, faults, 'promptTokensDetails', 'cacheWriteTokens'),
    outputTokens: withReasoning('within', inputTokens, output, reasoningTokens, totalTokens),
    reasoningTokens,
    totalTokens,
  }
}

function countOrTotal(usage: Usage, faults: ReadFault[], key: string): number | undefined {
  return membersOf(usage[key]) ? countAt(usage, faults, key, 'total') : countAt(usage, faults, key)
}
