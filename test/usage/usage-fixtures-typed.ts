import type { LanguageModelV2Usage, LanguageModelV3Usage } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import type { GenerateContentResponseUsageMetadata, Interactions, UsageMetadata } from '@google/genai'
import type { LanguageModelUsage } from 'ai6'
import type OpenAI from 'openai'
import type { RealtimeResponseUsage } from 'openai/resources/realtime/realtime'
import type { Fixture } from './usage-fixtures-published.ts'

/** Checked by the types of the providers' own packages. */
export const TYPED: readonly Fixture[] = [
  [
    'OpenAI chat, with audio, a prediction, a cache and reasoning',
    {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 64, audio_tokens: 10 },
      completion_tokens_details: {
        reasoning_tokens: 128,
        audio_tokens: 5,
        accepted_prediction_tokens: 20,
        rejected_prediction_tokens: 7,
      },
    } satisfies OpenAI.CompletionUsage,
    {
      inputTokens: 2006,
      cacheReadTokens: 1920,
      cacheWriteTokens: 64,
      audioInputTokens: 10,
      outputTokens: 300,
      reasoningTokens: 128,
      audioOutputTokens: 5,
      totalTokens: 2306,
    },
  ],
  [
    'OpenAI chat, bare',
    { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } satisfies OpenAI.CompletionUsage,
    { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
  ],
  [
    'an OpenAI embedding',
    { prompt_tokens: 8, total_tokens: 8 } satisfies OpenAI.CreateEmbeddingResponse.Usage,
    { inputTokens: 8, totalTokens: 8 },
  ],
  [
    'OpenAI responses',
    {
      input_tokens: 81,
      input_tokens_details: { cached_tokens: 64, cache_write_tokens: 10 },
      output_tokens: 1035,
      output_tokens_details: { reasoning_tokens: 832 },
      total_tokens: 1116,
    } satisfies OpenAI.Responses.ResponseUsage,
    {
      inputTokens: 81,
      cacheReadTokens: 64,
      cacheWriteTokens: 10,
      outputTokens: 1035,
      reasoningTokens: 832,
      totalTokens: 1116,
    },
  ],
  [
    'OpenAI realtime',
    {
      input_tokens: 700,
      input_token_details: {
        cached_tokens: 640,
        text_tokens: 60,
        audio_tokens: 640,
        cached_tokens_details: { audio_tokens: 640 },
      },
      output_tokens: 150,
      output_token_details: { text_tokens: 30, audio_tokens: 120 },
      total_tokens: 850,
    } satisfies RealtimeResponseUsage,
    {
      inputTokens: 700,
      cacheReadTokens: 640,
      audioInputTokens: 640,
      outputTokens: 150,
      audioOutputTokens: 120,
      totalTokens: 850,
    },
  ],
  [
    'Anthropic, whose input leaves out the cache',
    {
      input_tokens: 21,
      cache_creation_input_tokens: 188,
      cache_read_input_tokens: 1800,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 88 },
      output_tokens: 393,
      output_tokens_details: { thinking_tokens: 200 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      service_tier: 'standard',
      inference_geo: null,
      speed: null,
    } satisfies Anthropic.Usage,
    {
      inputTokens: 2009,
      cacheReadTokens: 1800,
      cacheWriteTokens: 188,
      cacheWrite1hTokens: 88,
      outputTokens: 393,
      reasoningTokens: 200,
      billedSearches: 2,
    },
  ],
  [
    'Anthropic with the cache writes by lifetime only',
    {
      input_tokens: 10,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      output_tokens: 3,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    } satisfies Anthropic.Usage,
    { inputTokens: 13, cacheReadTokens: 0, cacheWriteTokens: 3, cacheWrite1hTokens: 2, outputTokens: 3 },
  ],
  [
    'Anthropic without a cache',
    {
      input_tokens: 10,
      cache_creation: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      output_tokens: 3,
      output_tokens_details: { thinking_tokens: 1 },
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    } satisfies Anthropic.Messages.Usage,
    { inputTokens: 10, outputTokens: 3, reasoningTokens: 1 },
  ],
  [
    'Anthropic in the middle of a stream',
    {
      input_tokens: null,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 7,
      output_tokens: 15,
      output_tokens_details: null,
      server_tool_use: null,
    } satisfies Anthropic.MessageDeltaUsage,
    { cacheReadTokens: 7, outputTokens: 15 },
  ],
  [
    'Gemini, whose candidates leave out thoughts and whose prompt leaves out tools',
    {
      promptTokenCount: 1000,
      cachedContentTokenCount: 400,
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 200,
      thoughtsTokenCount: 70,
      totalTokenCount: 1320,
    } satisfies GenerateContentResponseUsageMetadata,
    { inputTokens: 1050, cacheReadTokens: 400, outputTokens: 270, reasoningTokens: 70, totalTokens: 1320 },
  ],
  [
    'Gemini that came to its limit while it thought',
    {
      promptTokenCount: 10,
      thoughtsTokenCount: 90,
      totalTokenCount: 100,
    } satisfies GenerateContentResponseUsageMetadata,
    { inputTokens: 10, outputTokens: 90, reasoningTokens: 90, totalTokens: 100 },
  ],
  [
    'Gemini of a server that puts thoughts within the candidates, by the total',
    {
      promptTokenCount: 10,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 70,
      totalTokenCount: 110,
    } satisfies GenerateContentResponseUsageMetadata,
    { inputTokens: 10, outputTokens: 100, reasoningTokens: 70, totalTokens: 110 },
  ],
  [
    'Gemini Live',
    {
      promptTokenCount: 20,
      cachedContentTokenCount: 5,
      toolUsePromptTokenCount: 3,
      responseTokenCount: 30,
      thoughtsTokenCount: 4,
      totalTokenCount: 57,
    } satisfies UsageMetadata,
    { inputTokens: 23, cacheReadTokens: 5, outputTokens: 34, reasoningTokens: 4, totalTokens: 57 },
  ],
  [
    'Gemini Interactions',
    {
      total_input_tokens: 9,
      total_cached_tokens: 4,
      total_tool_use_tokens: 1,
      total_output_tokens: 779,
      total_thought_tokens: 912,
      total_tokens: 1701,
    } satisfies Interactions.Usage,
    { inputTokens: 10, cacheReadTokens: 4, outputTokens: 1691, reasoningTokens: 912, totalTokens: 1701 },
  ],
  [
    'the AI SDK 6',
    {
      inputTokens: 500,
      inputTokenDetails: { noCacheTokens: 100, cacheReadTokens: 300, cacheWriteTokens: 100 },
      outputTokens: 60,
      outputTokenDetails: { textTokens: 40, reasoningTokens: 20 },
      totalTokens: 560,
      reasoningTokens: 20,
      cachedInputTokens: 300,
      raw: { input_tokens: 1, cache_read_input_tokens: 2 },
    } satisfies LanguageModelUsage,
    {
      inputTokens: 500,
      cacheReadTokens: 300,
      cacheWriteTokens: 100,
      outputTokens: 60,
      reasoningTokens: 20,
      totalTokens: 560,
    },
  ],
  [
    'the AI SDK 6 after an abort: unknown is not 0',
    {
      inputTokens: undefined,
      inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
      outputTokens: undefined,
      outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
      totalTokens: undefined,
    } satisfies LanguageModelUsage,
    {},
  ],
  [
    'the AI SDK 5',
    {
      inputTokens: 500,
      outputTokens: 60,
      totalTokens: 560,
      reasoningTokens: 20,
      cachedInputTokens: 300,
    } satisfies LanguageModelV2Usage,
    { inputTokens: 500, cacheReadTokens: 300, outputTokens: 60, reasoningTokens: 20, totalTokens: 560 },
  ],
  [
    'the AI SDK 5 over Gemini, whose output leaves out thoughts, by the total',
    {
      inputTokens: 1000,
      outputTokens: 200,
      totalTokens: 1270,
      reasoningTokens: 70,
    } satisfies LanguageModelV2Usage,
    { inputTokens: 1000, outputTokens: 270, reasoningTokens: 70, totalTokens: 1270 },
  ],
  [
    'the AI SDK 5 that knows only the total',
    { inputTokens: undefined, outputTokens: undefined, totalTokens: 12 } satisfies LanguageModelV2Usage,
    { totalTokens: 12 },
  ],
  [
    'the AI SDK 5 after an abort',
    { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined } satisfies LanguageModelV2Usage,
    {},
  ],
  [
    'a provider of the AI SDK',
    {
      inputTokens: { total: 500, noCache: 100, cacheRead: 300, cacheWrite: 100 },
      outputTokens: { total: 60, text: 40, reasoning: 20 },
      raw: { promptTokenCount: 1 },
    } satisfies LanguageModelV3Usage,
    { inputTokens: 500, cacheReadTokens: 300, cacheWriteTokens: 100, outputTokens: 60, reasoningTokens: 20 },
  ],
  [
    'a provider of the AI SDK that knows little',
    {
      inputTokens: { total: 5, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    } satisfies LanguageModelV3Usage,
    { inputTokens: 5 },
  ],
]
