import type { LanguageModelV2Usage, LanguageModelV3Usage } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import type { GenerateContentResponseUsageMetadata, Interactions } from '@google/genai'
import type { LanguageModelUsage } from 'ai6'
import fc from 'fast-check'
import type OpenAI from 'openai'
import type { RunCounts } from '../../../../src/model/run.ts'

/** The tokens of one model call, each counted once. */
export interface Truth {
  readonly plain: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Input that tools added. */
  readonly tools: number
  readonly text: number
  readonly reasoning: number
}

const tokens = fc.oneof(fc.constant(0), fc.nat(5), fc.nat(1_000_000))

export const truth: fc.Arbitrary<Truth> = fc.record({
  plain: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  tools: tokens,
  text: tokens,
  reasoning: tokens,
})

/** How a provider reports such a call, and which counts that gives. */
type Speaker = readonly [who: string, tell: (truth: Truth) => object, knows: readonly (keyof RunCounts)[]]

const ALL = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens', 'totalTokens']
const but = (...unknown: string[]) => ALL.filter((count) => !unknown.includes(count))

const input = ({ plain, cacheRead, cacheWrite, tools }: Truth): number => plain + cacheRead + cacheWrite + tools
const output = ({ text, reasoning }: Truth): number => text + reasoning
const total = (truth: Truth): number => input(truth) + output(truth)

/** The inclusive counts of a call. */
export const countsOf = (truth: Truth): RunCounts => ({
  inputTokens: input(truth),
  cacheReadTokens: truth.cacheRead,
  cacheWriteTokens: truth.cacheWrite,
  outputTokens: output(truth),
  reasoningTokens: truth.reasoning,
  totalTokens: total(truth),
})

const openAIChat = (truth: Truth) =>
  ({
    prompt_tokens: input(truth),
    completion_tokens: output(truth),
    total_tokens: total(truth),
    prompt_tokens_details: { cached_tokens: truth.cacheRead, cache_write_tokens: truth.cacheWrite },
    completion_tokens_details: { reasoning_tokens: truth.reasoning },
  }) satisfies OpenAI.CompletionUsage

const openAIResponses = (truth: Truth) =>
  ({
    input_tokens: input(truth),
    input_tokens_details: { cached_tokens: truth.cacheRead, cache_write_tokens: truth.cacheWrite },
    output_tokens: output(truth),
    output_tokens_details: { reasoning_tokens: truth.reasoning },
    total_tokens: total(truth),
  }) satisfies OpenAI.Responses.ResponseUsage

const anthropic = (truth: Truth) =>
  ({
    input_tokens: truth.plain + truth.tools,
    cache_creation: null,
    cache_creation_input_tokens: truth.cacheWrite,
    cache_read_input_tokens: truth.cacheRead,
    output_tokens: output(truth),
    output_tokens_details: { thinking_tokens: truth.reasoning },
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  }) satisfies Anthropic.Usage

const anthropicByLifetime = (truth: Truth) =>
  ({
    ...anthropic(truth),
    cache_creation_input_tokens: null,
    cache_creation: {
      ephemeral_5m_input_tokens: truth.cacheWrite - Math.floor(truth.cacheWrite / 3),
      ephemeral_1h_input_tokens: Math.floor(truth.cacheWrite / 3),
    },
  }) satisfies Anthropic.Usage

const gemini = (truth: Truth) =>
  ({
    promptTokenCount: input(truth) - truth.tools,
    cachedContentTokenCount: truth.cacheRead,
    toolUsePromptTokenCount: truth.tools,
    candidatesTokenCount: truth.text,
    thoughtsTokenCount: truth.reasoning,
    totalTokenCount: total(truth),
  }) satisfies GenerateContentResponseUsageMetadata

const geminiWithin = (truth: Truth) =>
  ({ ...gemini(truth), candidatesTokenCount: output(truth) }) satisfies GenerateContentResponseUsageMetadata

const geminiInteractions = (truth: Truth) =>
  ({
    total_input_tokens: input(truth) - truth.tools,
    total_cached_tokens: truth.cacheRead,
    total_tool_use_tokens: truth.tools,
    total_output_tokens: truth.text,
    total_thought_tokens: truth.reasoning,
    total_tokens: total(truth),
  }) satisfies Interactions.Usage

const aiSdk = (truth: Truth) =>
  ({
    inputTokens: input(truth),
    inputTokenDetails: {
      noCacheTokens: truth.plain + truth.tools,
      cacheReadTokens: truth.cacheRead,
      cacheWriteTokens: truth.cacheWrite,
    },
    outputTokens: output(truth),
    outputTokenDetails: { textTokens: truth.text, reasoningTokens: truth.reasoning },
    totalTokens: total(truth),
  }) satisfies LanguageModelUsage

const aiSdkProvider = (truth: Truth) =>
  ({
    inputTokens: {
      total: input(truth),
      noCache: truth.plain + truth.tools,
      cacheRead: truth.cacheRead,
      cacheWrite: truth.cacheWrite,
    },
    outputTokens: { total: output(truth), text: truth.text, reasoning: truth.reasoning },
  }) satisfies LanguageModelV3Usage

const aiSdkFlat = (truth: Truth) =>
  ({
    inputTokens: input(truth),
    outputTokens: output(truth),
    totalTokens: total(truth),
    reasoningTokens: truth.reasoning,
    cachedInputTokens: truth.cacheRead,
  }) satisfies LanguageModelV2Usage

const xai = (truth: Truth) => ({ ...openAIChat(truth), completion_tokens: truth.text }) satisfies OpenAI.CompletionUsage

const bedrock = (truth: Truth) => ({
  inputTokens: truth.plain + truth.tools,
  cacheReadInputTokens: truth.cacheRead,
  cacheWriteInputTokens: truth.cacheWrite,
  outputTokens: output(truth),
  totalTokens: total(truth),
})

export const SPEAKERS: readonly Speaker[] = [
  ['OpenAI chat', openAIChat, ALL],
  ['xAI', xai, ALL],
  ['OpenAI responses', openAIResponses, ALL],
  ['Anthropic', anthropic, but('totalTokens')],
  ['Anthropic by lifetime', anthropicByLifetime, but('totalTokens')],
  ['Gemini', gemini, but('cacheWriteTokens')],
  ['Gemini with thoughts within', geminiWithin, but('cacheWriteTokens')],
  ['Gemini Interactions', geminiInteractions, but('cacheWriteTokens')],
  ['the AI SDK', aiSdk, ALL],
  ['a provider of the AI SDK', aiSdkProvider, but('totalTokens')],
  ['the AI SDK, flat', aiSdkFlat, but('cacheWriteTokens')],
  ['Bedrock', bedrock, but('reasoningTokens')],
  ['Sallyport', countsOf, ALL],
]
