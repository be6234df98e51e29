import type { Fixture } from './usage-fixtures-published.ts'

/** As documented by platforms and tools; no package has types for most of these. */
export const PLATFORMS: readonly Fixture[] = [
  [
    'Codex',
    {
      input_tokens: 9_000,
      cached_input_tokens: 8_000,
      cache_write_input_tokens: 500,
      output_tokens: 300,
      reasoning_output_tokens: 200,
    },
    { inputTokens: 9_000, cacheReadTokens: 8_000, cacheWriteTokens: 500, outputTokens: 300, reasoningTokens: 200 },
  ],
  [
    'Codex in camel case',
    {
      inputTokens: 9_000,
      cachedInputTokens: 8_000,
      cacheWriteInputTokens: 500,
      outputTokens: 300,
      reasoningOutputTokens: 200,
    },
    { inputTokens: 9_000, cacheReadTokens: 8_000, cacheWriteTokens: 500, outputTokens: 300, reasoningTokens: 200 },
  ],
  [
    'Cohere, which bills fewer tokens than it processes',
    {
      billed_units: { input_tokens: 2_406, output_tokens: 2 },
      tokens: { input_tokens: 2_935, output_tokens: 4 },
      cached_tokens: 2_928,
    },
    { inputTokens: 2_406, outputTokens: 2 },
  ],
  [
    "Cohere's library",
    { billedUnits: { inputTokens: 4 }, tokens: { inputTokens: 5 }, cachedTokens: 1 },
    { inputTokens: 4 },
  ],
  [
    'Cohere without billed units',
    { tokens: { input_tokens: 10, output_tokens: 4 }, cached_tokens: 8 },
    { inputTokens: 10, cacheReadTokens: 8, outputTokens: 4 },
  ],
  [
    "Cohere's library without billed units",
    { tokens: { inputTokens: 10, outputTokens: 4 }, cachedTokens: 8 },
    { inputTokens: 10, cacheReadTokens: 8, outputTokens: 4 },
  ],
  [
    'LangChain, with cache writes of a known life',
    {
      input_tokens: 2_000,
      input_token_details: { cache_read: 100, cache_creation: 0, ephemeral_1h_input_tokens: 1_500 },
      output_tokens: 7,
      total_tokens: 2_007,
    },
    {
      inputTokens: 2_000,
      cacheReadTokens: 100,
      cacheWriteTokens: 1_500,
      cacheWrite1hTokens: 1_500,
      outputTokens: 7,
      totalTokens: 2_007,
    },
  ],
  [
    'LangChain, with cache writes of two lives',
    {
      input_tokens: 20,
      input_token_details: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      output_tokens: 7,
    },
    { inputTokens: 20, cacheWriteTokens: 7, cacheWrite1hTokens: 4, outputTokens: 7 },
  ],
  [
    'LangChain in Python, of a service tier',
    {
      input_tokens: 100,
      input_token_details: { flex_cache_read: 40, flex: 60 },
      output_tokens: 20,
      output_token_details: { flex_reasoning: 5, flex: 15 },
      total_tokens: 120,
    },
    { inputTokens: 100, cacheReadTokens: 40, outputTokens: 20, reasoningTokens: 5, totalTokens: 120 },
  ],
  [
    'a model of the Claude Agent SDK',
    {
      ...{ inputTokens: 10, outputTokens: 20, thinkingTokens: 5, cacheReadInputTokens: 60 },
      ...{ cacheCreationInputTokens: 30, cacheCreationEphemeral1hInputTokens: 10, webSearchRequests: 2 },
    },
    {
      ...{ inputTokens: 100, cacheReadTokens: 60, cacheWriteTokens: 30, cacheWrite1hTokens: 10 },
      ...{ outputTokens: 20, reasoningTokens: 5, billedSearches: 2 },
    },
  ],
  [
    "the AI SDK, with the provider's own object",
    {
      ...{ inputTokens: 60, outputTokens: 20, totalTokens: 80 },
      inputTokenDetails: { noCacheTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 50 },
      raw: { cache_creation: { ephemeral_1h_input_tokens: 30 }, server_tool_use: { web_search_requests: 2 } },
    },
    {
      ...{ inputTokens: 60, cacheReadTokens: 0, cacheWriteTokens: 50, cacheWrite1hTokens: 30 },
      ...{ outputTokens: 20, totalTokens: 80, billedSearches: 2 },
    },
  ],
  ['Ollama', { prompt_eval_count: 26, eval_count: 298, eval_duration: 5 }, { inputTokens: 26, outputTokens: 298 }],
  ['Ollama in camel case', { promptEvalCount: 26, evalCount: 298 }, { inputTokens: 26, outputTokens: 298 }],
  [
    'the metrics of Bedrock InvokeModel',
    {
      ...{ inputTokenCount: 12, outputTokenCount: 4, invocationLatency: 300, firstByteLatency: 100 },
      ...{ cacheReadInputTokenCount: 5, cacheWriteInputTokenCount: 3 },
    },
    { inputTokens: 20, cacheReadTokens: 5, cacheWriteTokens: 3, outputTokens: 4 },
  ],
  [
    'Titan in Bedrock',
    { inputTextTokenCount: 5, results: [{ tokenCount: 3, outputText: 'a' }, { tokenCount: 4 }] },
    { inputTokens: 5, outputTokens: 7 },
  ],
  [
    'a stream of Titan in Bedrock',
    { inputTextTokenCount: 5, totalOutputTextTokenCount: 9 },
    { inputTokens: 5, outputTokens: 9 },
  ],
  ['Llama in Bedrock', { prompt_token_count: 5, generation_token_count: 9 }, { inputTokens: 5, outputTokens: 9 }],
  [
    'a result of watsonx',
    { generated_token_count: 9, input_token_count: 5, stop_reason: 'eos_token' },
    { inputTokens: 5, outputTokens: 9 },
  ],
  [
    'watsonx',
    { model_id: 'm', results: [{ generated_token_count: 9, input_token_count: 5 }] },
    { inputTokens: 5, outputTokens: 9 },
  ],
  [
    'Text Generation Inference',
    { finish_reason: 'length', generated_tokens: 9, prefill: [{ id: 1 }, { id: 2 }] },
    { inputTokens: 2, outputTokens: 9 },
  ],
  [
    'Text Generation Inference without the prompt',
    { finish_reason: 'length', generated_tokens: 9, prefill: [] },
    { outputTokens: 9 },
  ],
  [
    'a stream of Text Generation Inference',
    { finish_reason: 'length', generated_tokens: 9, input_length: 5 },
    { inputTokens: 5, outputTokens: 9 },
  ],
  [
    'Langfuse',
    { input: 5, output: 9, total: 14, unit: 'TOKENS' },
    { inputTokens: 5, outputTokens: 9, totalTokens: 14 },
  ],
  [
    'the details of Langfuse',
    { input: 5, input_cached_tokens: 20, output: 9, output_reasoning_tokens: 30, total: 64 },
    { inputTokens: 25, cacheReadTokens: 20, outputTokens: 39, reasoningTokens: 30, totalTokens: 64 },
  ],
  [
    'OpenTelemetry',
    {
      ...{ 'gen_ai.usage.input_tokens': 30, 'gen_ai.usage.output_tokens': 9 },
      ...{ 'gen_ai.usage.cache_read.input_tokens': 20, 'gen_ai.usage.cache_creation.input_tokens': 4 },
      'gen_ai.usage.reasoning.output_tokens': 3,
    },
    { inputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 4, outputTokens: 9, reasoningTokens: 3 },
  ],
  [
    'OpenTelemetry before 1.27',
    { 'gen_ai.usage.prompt_tokens': 30, 'gen_ai.usage.completion_tokens': 9 },
    { inputTokens: 30, outputTokens: 9 },
  ],
  [
    "Mistral's library",
    { promptTokens: 30, completionTokens: 9, totalTokens: 39, numCachedTokens: 20 },
    { inputTokens: 30, cacheReadTokens: 20, outputTokens: 9, totalTokens: 39 },
  ],
  [
    'reasoning beside the names of Anthropic',
    { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 9, reasoning_tokens: 3 },
    { inputTokens: 25, cacheReadTokens: 20, outputTokens: 9, reasoningTokens: 3 },
  ],
  [
    'LiteLLM',
    {
      ...{ prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 },
      prompt_tokens_details: { cached_tokens: 20, cache_creation_tokens: 4 },
    },
    { inputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 4, outputTokens: 9, totalTokens: 39 },
  ],
  [
    'OpenRouter responses in camel case',
    {
      ...{ inputTokens: 30, outputTokens: 9, totalTokens: 39 },
      ...{ inputTokensDetails: { cachedTokens: 20 }, outputTokensDetails: { reasoningTokens: 3 } },
    },
    { inputTokens: 30, cacheReadTokens: 20, outputTokens: 9, reasoningTokens: 3, totalTokens: 39 },
  ],
]
