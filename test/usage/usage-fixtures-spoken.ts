import type { LanguageModelV2Usage, LanguageModelV3Usage } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import type { GenerateContentResponseUsageMetadata, Interactions } from '@google/genai'
import type { LanguageModelUsage } from 'ai6'
import type OpenAI from 'openai'
import type { RunCounts } from '../../src/model/run.ts'
import { fc } from '../support/properties.ts'

/** The tokens of one model call, each counted once. */
export interface Call {
  readonly plain: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Input that tools added. */
  readonly tools: number
  readonly text: number
  readonly reasoning: number
}

const tokens = fc.oneof(fc.constant(0), fc.nat(5), fc.nat(1_000_000))

export const calls: fc.Arbitrary<Call> = fc.record({
  plain: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  tools: tokens,
  text: tokens,
  reasoning: tokens,
})

/** How a provider reports such a call, and which counts that gives. */
type ProviderUsage = readonly [provider: string, usageOf: (call: Call) => object, reports: readonly (keyof RunCounts)[]]

const ALL = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens', 'totalTokens']
const but = (...unknown: string[]) => ALL.filter((count) => !unknown.includes(count))

const input = ({ plain, cacheRead, cacheWrite, tools }: Call): number => plain + cacheRead + cacheWrite + tools
const output = ({ text, reasoning }: Call): number => text + reasoning
const total = (call: Call): number => input(call) + output(call)

/** The part of the cache writes that is kept for one hour, where the provider tells. */
const longLived = ({ cacheWrite }: Call): number => Math.floor(cacheWrite / 3)

/** The inclusive counts of a call. */
export const countsOf = (call: Call): RunCounts => ({
  inputTokens: input(call),
  cacheReadTokens: call.cacheRead,
  cacheWriteTokens: call.cacheWrite,
  cacheWrite1hTokens: longLived(call),
  outputTokens: output(call),
  reasoningTokens: call.reasoning,
  totalTokens: total(call),
})

const openAIChat = (call: Call) =>
  ({
    prompt_tokens: input(call),
    completion_tokens: output(call),
    total_tokens: total(call),
    prompt_tokens_details: { cached_tokens: call.cacheRead, cache_write_tokens: call.cacheWrite },
    completion_tokens_details: { reasoning_tokens: call.reasoning },
  }) satisfies OpenAI.CompletionUsage

const openAIResponses = (call: Call) =>
  ({
    input_tokens: input(call),
    input_tokens_details: { cached_tokens: call.cacheRead, cache_write_tokens: call.cacheWrite },
    output_tokens: output(call),
    output_tokens_details: { reasoning_tokens: call.reasoning },
    total_tokens: total(call),
  }) satisfies OpenAI.Responses.ResponseUsage

const anthropic = (call: Call) =>
  ({
    input_tokens: call.plain + call.tools,
    cache_creation: null,
    cache_creation_input_tokens: call.cacheWrite,
    cache_read_input_tokens: call.cacheRead,
    output_tokens: output(call),
    output_tokens_details: { thinking_tokens: call.reasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  }) satisfies Anthropic.Usage

const anthropicByLifetime = (call: Call) =>
  ({
    ...anthropic(call),
    cache_creation_input_tokens: null,
    cache_creation: {
      ephemeral_5m_input_tokens: call.cacheWrite - longLived(call),
      ephemeral_1h_input_tokens: longLived(call),
    },
  }) satisfies Anthropic.Usage

const gemini = (call: Call) =>
  ({
    promptTokenCount: input(call) - call.tools,
    cachedContentTokenCount: call.cacheRead,
    toolUsePromptTokenCount: call.tools,
    candidatesTokenCount: call.text,
    thoughtsTokenCount: call.reasoning,
    totalTokenCount: total(call),
  }) satisfies GenerateContentResponseUsageMetadata

const geminiWithin = (call: Call) =>
  ({ ...gemini(call), candidatesTokenCount: output(call) }) satisfies GenerateContentResponseUsageMetadata

const geminiInteractions = (call: Call) =>
  ({
    total_input_tokens: input(call) - call.tools,
    total_cached_tokens: call.cacheRead,
    total_tool_use_tokens: call.tools,
    total_output_tokens: call.text,
    total_thought_tokens: call.reasoning,
    total_tokens: total(call),
  }) satisfies Interactions.Usage

const aiSdk = (call: Call) =>
  ({
    inputTokens: input(call),
    inputTokenDetails: {
      noCacheTokens: call.plain + call.tools,
      cacheReadTokens: call.cacheRead,
      cacheWriteTokens: call.cacheWrite,
    },
    outputTokens: output(call),
    outputTokenDetails: { textTokens: call.text, reasoningTokens: call.reasoning },
    totalTokens: total(call),
  }) satisfies LanguageModelUsage

const aiSdkProvider = (call: Call) =>
  ({
    inputTokens: {
      total: input(call),
      noCache: call.plain + call.tools,
      cacheRead: call.cacheRead,
      cacheWrite: call.cacheWrite,
    },
    outputTokens: { total: output(call), text: call.text, reasoning: call.reasoning },
  }) satisfies LanguageModelV3Usage

const aiSdkFlat = (call: Call) =>
  ({
    inputTokens: input(call),
    outputTokens: output(call),
    totalTokens: total(call),
    reasoningTokens: call.reasoning,
    cachedInputTokens: call.cacheRead,
  }) satisfies LanguageModelV2Usage

const xai = (call: Call) => ({ ...openAIChat(call), completion_tokens: call.text }) satisfies OpenAI.CompletionUsage

const bedrock = (call: Call) => ({
  inputTokens: call.plain + call.tools,
  cacheReadInputTokens: call.cacheRead,
  cacheWriteInputTokens: call.cacheWrite,
  outputTokens: output(call),
  totalTokens: total(call),
})

export const PROVIDERS: readonly ProviderUsage[] = [
  ['OpenAI chat', openAIChat, ALL],
  ['xAI', xai, ALL],
  ['OpenAI responses', openAIResponses, ALL],
  ['Anthropic', anthropic, but('totalTokens')],
  ['Anthropic by lifetime', anthropicByLifetime, [...but('totalTokens'), 'cacheWrite1hTokens']],
  ['Gemini', gemini, but('cacheWriteTokens')],
  ['Gemini with thoughts within', geminiWithin, but('cacheWriteTokens')],
  ['Gemini Interactions', geminiInteractions, but('cacheWriteTokens')],
  ['the AI SDK', aiSdk, ALL],
  ['a provider of the AI SDK', aiSdkProvider, but('totalTokens')],
  ['the AI SDK, flat', aiSdkFlat, but('cacheWriteTokens')],
  ['Bedrock', bedrock, but('reasoningTokens')],
  ['Sallyport', countsOf, [...ALL, 'cacheWrite1hTokens']],
]
