import { tierOf } from '../model/service-tier.ts'
import type { TokensReported } from './model-call.ts'
import { knownText, type Members, untypedMembers } from './untyped.ts'

export interface ModelAnswer {
  responseModel?: unknown
  finishReason?: unknown
  usage?: Members
  tokens?: TokensReported
  serviceTier?: string | undefined
  /** The answer reports an error. */
  failed?: boolean
  /** Some output of the model has arrived. */
  hasContent?: boolean
}

/** A model API: the paths of its calls, and a reader of its answers. */
export interface ModelApi {
  readonly provider: string
  /** The path of a call. A group named `model` is the requested model; without one, the model is in the request's body. */
  readonly path: RegExp
  /** Reads a whole answer, or one event of a stream. */
  read(answer: ModelAnswer, value: Members): void
  tokens(usage: Members): TokensReported
}

/** Tokens of OpenAI's chat completions and responses. Totals include cache and reasoning. */
export function openAITokens(usage: Members): TokensReported {
  const input = untypedMembers(usage.prompt_tokens_details ?? usage.input_tokens_details)
  const output = untypedMembers(usage.completion_tokens_details ?? usage.output_tokens_details)
  return {
    inputTokens: usage.prompt_tokens ?? usage.input_tokens,
    cacheReadTokens: input.cached_tokens,
    cacheWriteTokens: input.cache_write_tokens,
    outputTokens: usage.completion_tokens ?? usage.output_tokens,
    reasoningTokens: output.reasoning_tokens,
    // Most calls report 0.
    audioInputTokens: input.audio_tokens || undefined,
    imageInputTokens: input.image_tokens || undefined,
    audioOutputTokens: output.audio_tokens || undefined,
    imageOutputTokens: output.image_tokens || undefined,
  }
}

/** Tokens of Anthropic's messages. Input excludes the cache. */
function anthropicTokens(usage: Members): TokensReported {
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  return {
    inputTokens: Number(input_tokens) + Number(cache_read_input_tokens ?? 0) + Number(cache_creation_input_tokens ?? 0),
    cacheReadTokens: cache_read_input_tokens,
    cacheWriteTokens: cache_creation_input_tokens,
    cacheWrite1hTokens: untypedMembers(usage.cache_creation).ephemeral_1h_input_tokens || undefined,
    billedSearches: untypedMembers(usage.server_tool_use).web_search_requests || undefined,
    outputTokens: usage.output_tokens,
    reasoningTokens: untypedMembers(usage.output_tokens_details).thinking_tokens,
  }
}

const openAI: ModelApi = {
  provider: 'openai',
  path: /\/(?:chat\/)?completions$|\/responses(?:\/compact)?$/,
  read(answer, value) {
    const type = String(value.type)
    const body = 'response' in value ? untypedMembers(value.response) : value
    const choice = untypedMembers(untypedMembers(body.choices)[0])
    answer.responseModel = body.model ?? answer.responseModel
    answer.finishReason =
      choice.finish_reason ??
      untypedMembers(body.incomplete_details).reason ??
      (body.status === 'completed' ? body.status : answer.finishReason)
    answer.serviceTier = tierOf(body) ?? answer.serviceTier
    if (body.usage) answer.usage = untypedMembers(body.usage)
    if (type === 'error' || body.error) answer.failed = true
    if (type.endsWith('.delta') || choice.text || isWritten(untypedMembers(choice.delta))) answer.hasContent = true
  },
  tokens: openAITokens,
}

const anthropic: ModelApi = {
  provider: 'anthropic',
  path: /\/v1\/messages$/,
  read(answer, value) {
    const { type, delta } = value
    const isStart = type === 'message_start'
    const body = isStart ? untypedMembers(value.message) : value
    answer.responseModel = body.model ?? answer.responseModel
    answer.finishReason = body.stop_reason ?? untypedMembers(delta).stop_reason ?? answer.finishReason
    // The start of a message reports its first output tokens, only the end reports all.
    const early = isStart && { output_tokens: undefined }
    if (body.usage) {
      answer.usage = { ...answer.usage, ...knownText(untypedMembers(body.usage)), ...early }
      answer.serviceTier = tierOf(answer.usage)
    }
    if (type === 'error') answer.failed = true
    if (type === 'content_block_delta') answer.hasContent = true
  },
  tokens: anthropicTokens,
}

/** Tokens of Gemini's `generateContent`: see the shape `gemini` of a run's `usage`. Tool use and thoughts are extra. */
function geminiTokens(usage: Members): TokensReported {
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usage
  const isOutputKnown = (candidatesTokenCount ?? thoughtsTokenCount) !== undefined
  return {
    inputTokens: Number(promptTokenCount) + Number(toolUsePromptTokenCount ?? 0),
    cacheReadTokens: usage.cachedContentTokenCount,
    outputTokens: isOutputKnown && Number(candidatesTokenCount ?? 0) + Number(thoughtsTokenCount ?? 0),
    reasoningTokens: thoughtsTokenCount,
  }
}

const gemini: ModelApi = {
  provider: 'google',
  path: /\/(?<model>[^/]+):(?:g|streamG)enerateContent$/,
  read(answer, value) {
    const candidate = untypedMembers(untypedMembers(value.candidates)[0])
    answer.responseModel = value.modelVersion ?? answer.responseModel
    answer.finishReason =
      candidate.finishReason ?? untypedMembers(value.promptFeedback).blockReason ?? answer.finishReason
    // The counts of a stream grow; not every event has all of them.
    if (value.usageMetadata) {
      answer.usage = { ...answer.usage, ...untypedMembers(value.usageMetadata) }
      answer.serviceTier = tierOf(answer.usage)
    }
    if (value.error) answer.failed = true
    if (untypedMembers(untypedMembers(candidate.content).parts)[0]) answer.hasContent = true
  },
  tokens: geminiTokens,
}

export const MODEL_APIS: readonly ModelApi[] = [openAI, anthropic, gemini]

function isWritten({ role: _, ...written }: Members): boolean {
  return Object.values(written).some((part) => part && untypedMembers(part).length !== 0)
}
