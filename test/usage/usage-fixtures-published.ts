import type { RunCounts } from '../../src/model/run.ts'

/** A usage object of a provider, and its inclusive counts. */
export type Fixture = readonly [of: string, usage: object, counts: RunCounts]

/** As published; no package has types for these. */
export const PUBLISHED: readonly Fixture[] = [
  [
    'OpenAI chat with nulls',
    { prompt_tokens: 5, completion_tokens: null, total_tokens: 12, prompt_tokens_details: null },
    { inputTokens: 5, totalTokens: 12 },
  ],
  [
    'a gateway that adds Anthropic names to OpenAI chat',
    { prompt_tokens: 100, completion_tokens: 7, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
    { inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30, outputTokens: 7 },
  ],
  [
    'a gateway that adds Anthropic names to OpenAI responses',
    {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens: 7,
      total_tokens: 107,
    },
    { inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30, outputTokens: 7, totalTokens: 107 },
  ],
  [
    'a gateway with Anthropic names for the cache beside details of OpenAI',
    {
      ...{ input_tokens: 100, input_tokens_details: { text_tokens: 40 }, cache_read_input_tokens: 60 },
      ...{ output_tokens: 7, total_tokens: 107 },
    },
    { inputTokens: 100, cacheReadTokens: 60, outputTokens: 7, totalTokens: 107 },
  ],
  [
    'OpenRouter, whose cost is elsewhere',
    {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      cost: 0.95,
      cost_details: { upstream_inference_cost: 19 },
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 100, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    {
      inputTokens: 194,
      cacheReadTokens: 0,
      cacheWriteTokens: 100,
      audioInputTokens: 0,
      outputTokens: 2,
      reasoningTokens: 0,
      totalTokens: 196,
    },
  ],
  [
    'the SDK of OpenRouter',
    {
      promptTokens: 194,
      completionTokens: 12,
      totalTokens: 206,
      promptTokensDetails: { cachedTokens: 64, cacheWriteTokens: 100 },
      completionTokensDetails: { reasoningTokens: 10 },
    },
    {
      inputTokens: 194,
      cacheReadTokens: 64,
      cacheWriteTokens: 100,
      outputTokens: 12,
      reasoningTokens: 10,
      totalTokens: 206,
    },
  ],
  [
    'an SDK that leaves the total out',
    { promptTokens: 5, completionTokens: 12, completionTokensDetails: { reasoningTokens: 10 } },
    { inputTokens: 5, outputTokens: 12, reasoningTokens: 10 },
  ],
  [
    'DeepSeek',
    {
      prompt_tokens: 100,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
      completion_tokens: 20,
      total_tokens: 120,
      completion_tokens_details: { reasoning_tokens: 15 },
    },
    { inputTokens: 100, cacheReadTokens: 64, outputTokens: 20, reasoningTokens: 15, totalTokens: 120 },
  ],
  [
    'Mistral',
    { prompt_tokens: 100, num_cached_tokens: 64, completion_tokens: 20, total_tokens: 120, prompt_audio_seconds: null },
    { inputTokens: 100, cacheReadTokens: 64, outputTokens: 20, totalTokens: 120 },
  ],
  [
    'Kimi',
    { prompt_tokens: 100, cached_tokens: 64, completion_tokens: 20, total_tokens: 120 },
    { inputTokens: 100, cacheReadTokens: 64, outputTokens: 20, totalTokens: 120 },
  ],
  [
    'xAI, whose completion leaves out reasoning, by the total',
    {
      prompt_tokens: 10120,
      completion_tokens: 1499,
      total_tokens: 14428,
      prompt_tokens_details: { cached_tokens: 128, text_tokens: 10120 },
      completion_tokens_details: { reasoning_tokens: 2809 },
      num_sources_used: 0,
    },
    {
      inputTokens: 10120,
      cacheReadTokens: 128,
      outputTokens: 4308,
      reasoningTokens: 2809,
      totalTokens: 14428,
      billedSearches: 0,
    },
  ],
  [
    'LangChain',
    {
      input_tokens: 350,
      output_tokens: 240,
      total_tokens: 590,
      input_token_details: { audio: 10, cache_creation: 200, cache_read: 100 },
      output_token_details: { audio: 10, reasoning: 200 },
    },
    {
      inputTokens: 350,
      cacheReadTokens: 100,
      cacheWriteTokens: 200,
      audioInputTokens: 10,
      outputTokens: 240,
      reasoningTokens: 200,
      audioOutputTokens: 10,
      totalTokens: 590,
    },
  ],
  [
    'Vertex',
    {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
      trafficType: 'ON_DEMAND',
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    },
    { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  ],
  [
    'Vertex, from Python',
    {
      prompt_token_count: 1000,
      cached_content_token_count: 400,
      tool_use_prompt_token_count: 50,
      candidates_token_count: 200,
      thoughts_token_count: 70,
      total_token_count: 1320,
    },
    { inputTokens: 1050, cacheReadTokens: 400, outputTokens: 270, reasoningTokens: 70, totalTokens: 1320 },
  ],
  [
    'Bedrock Converse, whose input leaves out the cache and whose total does not',
    {
      inputTokens: 21,
      cacheReadInputTokens: 1800,
      cacheWriteInputTokens: 188,
      cacheDetails: [{ ttl: '1h', inputTokens: 188 }],
      outputTokens: 393,
      totalTokens: 2402,
    },
    {
      inputTokens: 2009,
      cacheReadTokens: 1800,
      cacheWriteTokens: 188,
      cacheWrite1hTokens: 188,
      outputTokens: 393,
      totalTokens: 2402,
    },
  ],
  [
    'Nova',
    { inputTokens: 21, cacheReadInputTokenCount: 1800, cacheWriteInputTokenCount: 188, outputTokens: 393 },
    { inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188, outputTokens: 393 },
  ],
  [
    'Bedrock without a cache',
    { inputTokens: 21, outputTokens: 393, totalTokens: 414 },
    { inputTokens: 21, outputTokens: 393, totalTokens: 414 },
  ],
  [
    'the Claude Agent SDK, of one model',
    {
      inputTokens: 21,
      outputTokens: 393,
      cacheReadInputTokens: 1800,
      cacheCreationInputTokens: 188,
      webSearchRequests: 0,
      costUSD: 0.25,
      contextWindow: 200000,
    },
    { inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188, outputTokens: 393, billedSearches: 0 },
  ],
  [
    'the AI SDK 4',
    { promptTokens: 5, completionTokens: 6, totalTokens: 11 },
    { inputTokens: 5, outputTokens: 6, totalTokens: 11 },
  ],
  [
    'OpenAI chat with reasoning but no output',
    { prompt_tokens: 5, completion_tokens_details: { reasoning_tokens: 4 } },
    { inputTokens: 5, reasoningTokens: 4 },
  ],
  [
    'Anthropic with one lifetime',
    { input_tokens: 10, cache_creation: { ephemeral_1h_input_tokens: 2 }, output_tokens: 3 },
    { inputTokens: 12, cacheWriteTokens: 2, cacheWrite1hTokens: 2, outputTokens: 3 },
  ],
  [
    'Gemini Live in the middle of a stream: what tools added is not all of the input',
    { toolUsePromptTokenCount: 3, responseTokenCount: 30 },
    { outputTokens: 30 },
  ],
  ['a total alone', { total_tokens: 11 }, { totalTokens: 11 }],
  ['an unknown member beside nulls', { prompt_tokens: null, whatever: null }, {}],
]
