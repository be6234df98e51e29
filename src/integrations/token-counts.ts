import type { RunCounts } from '../model/run.ts'
import { type Members, untypedMembers } from './untyped.ts'

/** The tokens of one call, as its provider told them: input with the cache, output with reasoning. */
export type TokensReported = Partial<
  Record<'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens' | 'reasoningTokens', unknown>
>

/** OpenAI's chat completions and responses, both of which include. */
export function openAITokens(usage: Members): TokensReported {
  const input = untypedMembers(usage.prompt_tokens_details ?? usage.input_tokens_details)
  const output = untypedMembers(usage.completion_tokens_details ?? usage.output_tokens_details)
  return {
    inputTokens: usage.prompt_tokens ?? usage.input_tokens,
    cacheReadTokens: input.cached_tokens,
    cacheWriteTokens: input.cache_write_tokens,
    outputTokens: usage.completion_tokens ?? usage.output_tokens,
    reasoningTokens: output.reasoning_tokens,
  }
}

/** Anthropic's messages, whose input is only what the cache had no part in. */
export function anthropicTokens(usage: Members): TokensReported {
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  return {
    inputTokens: Number(input_tokens) + Number(cache_read_input_tokens ?? 0) + Number(cache_creation_input_tokens ?? 0),
    cacheReadTokens: cache_read_input_tokens,
    cacheWriteTokens: cache_creation_input_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: untypedMembers(usage.output_tokens_details).thinking_tokens,
  }
}

/** Those that are counts: nothing is told of the others, which were not told or are nonsense. */
export function countsOf(reported: TokensReported): RunCounts {
  return Object.fromEntries(Object.entries(reported).filter(isCount))
}

function isCount(entry: [string, unknown]): entry is [string, number] {
  return Number.isSafeInteger(entry[1]) && Number(entry[1]) >= 0
}
