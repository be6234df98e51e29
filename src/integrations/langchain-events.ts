import { tierOf } from '../model/service-tier.ts'
import type { ModelCallEnd, TokensReported } from './model-call.ts'
import { knownText, type Members, textOf, untypedMembers } from './untyped.ts'

export function isAbort(error: unknown): boolean {
  const { name, message } = untypedMembers(error)
  return name === 'AbortError' || name === 'ModelAbortError' || message === 'Aborted'
}

/** LangGraph throws these to stop or leave a graph: for an interrupt, or a command to the outer graph. */
export function isBubbleUp(error: unknown): boolean {
  return untypedMembers(error).is_bubble_up === true
}

/** The module and class of a serialized object: `langgraph/pregel/CompiledStateGraph`. */
export function classPathOf(serialized: object): string {
  const { id } = untypedMembers(serialized)
  return Array.isArray(id) ? id.join('/') : ''
}

/** The name in price tables. */
export function providerOf(reported: unknown): string {
  const provider = textOf(reported, 64) ?? 'langchain'
  return /^google[_-]/.test(provider) ? 'google' : provider
}

export function hasToolCall(fields: unknown): boolean {
  const { chunk } = untypedMembers(fields)
  return Boolean(untypedMembers(untypedMembers(untypedMembers(chunk).message).tool_call_chunks)[0])
}

/** Returns the end of a call from an `LLMResult`. Totals of `usage_metadata` include cache and reasoning. */
export function endOf(output: unknown): ModelCallEnd {
  const { generations, llmOutput } = untypedMembers(output)
  const { message, generationInfo } = untypedMembers(untypedMembers(untypedMembers(generations)[0])[0])
  const { usage_metadata, response_metadata } = untypedMembers(message)
  const facts = { ...untypedMembers(generationInfo), ...untypedMembers(response_metadata) }
  const raw = untypedMembers(facts.usage)
  return {
    tokens: tokensOf(untypedMembers(usage_metadata), raw, untypedMembers(untypedMembers(llmOutput).tokenUsage)),
    responseModel: facts.model_name ?? facts.model,
    finishReason: facts.finish_reason ?? facts.stop_reason ?? facts.finishReason ?? facts.status,
    ...knownText({ serviceTier: tierOf(facts) ?? tierOf(raw) }),
  }
}

/** @param raw The usage object of the provider, which Anthropic's models keep. */
function tokensOf(usage: Members, raw: Members, legacy: Members): TokensReported {
  const input = untypedMembers(usage.input_token_details)
  const output = untypedMembers(usage.output_token_details)
  const { cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = input
  const longLived = ephemeral_1h_input_tokens ?? untypedMembers(raw.cache_creation).ephemeral_1h_input_tokens
  // Cache writes with a known life are not in `cache_creation`.
  const writes = [cache_creation, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens].filter(
    (one) => one !== undefined,
  )
  return {
    inputTokens: usage.input_tokens ?? legacy.promptTokens,
    cacheReadTokens: input.cache_read,
    cacheWriteTokens: writes.length > 0 ? writes.reduce<number>((sum, one) => sum + Number(one), 0) : undefined,
    outputTokens: usage.output_tokens ?? legacy.completionTokens,
    reasoningTokens: output.reasoning,
    // Most calls report 0.
    cacheWrite1hTokens: longLived || undefined,
    audioInputTokens: input.audio || undefined,
    imageInputTokens: input.image || undefined,
    audioOutputTokens: output.audio || undefined,
    imageOutputTokens: output.image || undefined,
    billedSearches: untypedMembers(raw.server_tool_use).web_search_requests || undefined,
  }
}

/**
 * Returns the requested service tier, for answers that do not name theirs: LangChain drops that of a chat completion which is not
 * streamed.
 */
export function requestedTier(params: unknown): string | undefined {
  const { service_tier } = untypedMembers(params)
  return service_tier === 'flex' || service_tier === 'priority' ? service_tier : undefined
}
