import { tierOf } from '../model/service-tier.ts'
import type { ModelCallEnd } from './model-call.ts'
import { knownText, textOf, untypedMembers } from './untyped.ts'

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

/** Returns the end of a call from an `LLMResult`. */
export function endOf(output: unknown): ModelCallEnd {
  const { generations, llmOutput } = untypedMembers(output)
  const { message, generationInfo } = untypedMembers(untypedMembers(untypedMembers(generations)[0])[0])
  const { usage_metadata, response_metadata } = untypedMembers(message)
  const facts = { ...untypedMembers(generationInfo), ...untypedMembers(response_metadata) }
  // Some models keep the usage object of the provider, which has the life of cache writes, and searches.
  const raw = untypedMembers(facts.usage)
  return {
    usage: usage_metadata ? { ...untypedMembers(usage_metadata), raw } : untypedMembers(llmOutput).tokenUsage,
    responseModel: facts.model_name ?? facts.model,
    finishReason: facts.finish_reason ?? facts.stop_reason ?? facts.finishReason ?? facts.status,
    ...knownText({ serviceTier: tierOf(facts) ?? tierOf(raw) }),
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
