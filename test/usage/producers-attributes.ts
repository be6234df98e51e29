import { AI_SDK, ENVOY, type ProducerUsage, PYDANTIC_AI } from './producer-usage.ts'

const of = (prefix: string, counts: object): object =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [prefix + name, count]))

/** Attributes of spans and logs, and tools that record usage. */
export const ATTRIBUTES: readonly ProducerUsage[] = [
  {
    producer: 'OpenInference',
    source: 'https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md',
    usage: of('llm.token_count.', {
      ...{ prompt: 10, 'prompt_details.cache_read': 5, 'prompt_details.cache_write': 2, 'prompt_details.audio': 1 },
      ...{ completion: 15, 'completion_details.reasoning': 10, 'completion_details.audio': 3, total: 25 },
    }),
    counts: {
      ...{ inputTokens: 10, cacheReadTokens: 5, cacheWriteTokens: 2, audioInputTokens: 1 },
      ...{ outputTokens: 15, reasoningTokens: 10, audioOutputTokens: 3, totalTokens: 25 },
    },
  },
  {
    producer: 'OpenInference as Envoy AI Gateway writes it',
    source: `${ENVOY}internal/tracing/openinference/openinference.go`,
    usage: of('llm.token_count.', {
      ...{ prompt: 10, 'prompt_details.cache_read': 5, 'prompt_details.cache_creation': 2 },
      ...{ completion: 15, total: 25 },
    }),
    counts: { inputTokens: 10, cacheReadTokens: 5, cacheWriteTokens: 2, outputTokens: 15, totalTokens: 25 },
  },
  {
    producer: 'OpenLLMetry',
    source: 'https://github.com/traceloop/openllmetry/pull/2175',
    usage: {
      ...of('gen_ai.usage.', { prompt_tokens: 100, completion_tokens: 50 }),
      ...of('gen_ai.usage.', { cache_read_input_tokens: 20, cache_creation_input_tokens: 0 }),
      'llm.usage.total_tokens': 150,
    },
    counts: { inputTokens: 100, cacheReadTokens: 20, cacheWriteTokens: 0, outputTokens: 50, totalTokens: 150 },
  },
  {
    producer: 'OpenLLMetry before the names of OpenTelemetry',
    source:
      'https://github.com/traceloop/openllmetry/blob/main/packages/opentelemetry-semantic-conventions-ai/opentelemetry/semconv_ai/__init__.py',
    usage: of('llm.usage.', {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      ...{ cache_read_input_tokens: 20, reasoning_tokens: 30 },
    }),
    counts: { inputTokens: 100, cacheReadTokens: 20, outputTokens: 50, reasoningTokens: 30, totalTokens: 150 },
  },
  {
    producer: 'the spans of pydantic-ai',
    source: `${PYDANTIC_AI}tests/models/test_instrumented.py`,
    usage: of('gen_ai.usage.', {
      ...{ input_tokens: 100, output_tokens: 200 },
      ...{ 'cache_creation.input_tokens': 10, 'cache_read.input_tokens': 20 },
      ...{ 'details.reasoning_tokens': 30, 'details.cache_write_tokens': 10, 'details.cache_read_tokens': 20 },
      ...{ 'details.input_audio_tokens': 10, 'details.output_audio_tokens': 30 },
    }),
    counts: {
      ...{ inputTokens: 100, cacheReadTokens: 20, cacheWriteTokens: 10, audioInputTokens: 10 },
      ...{ outputTokens: 200, reasoningTokens: 30, audioOutputTokens: 30 },
    },
    why: 'Every detail is a part of the inclusive counts (`usage.py`).',
  },
  {
    producer: 'the spans of pydantic-ai, with cached audio',
    source: `${PYDANTIC_AI}pydantic_ai_slim/pydantic_ai/usage.py`,
    usage: of('gen_ai.usage.', {
      ...{ input_tokens: 100, output_tokens: 200, 'cache_read.input_tokens': 20, 'details.cache_audio_read_tokens': 5 },
    }),
    counts: { inputTokens: 100, cacheReadTokens: 20, outputTokens: 200 },
    doubts: ['usage_unread gen_ai.usage.details.cache_audio_read_tokens'],
    why: 'Cached audio has a price of its own: gpt-realtime-mini 0.3, cached text 0.06.',
  },
  {
    producer: 'the spans of pydantic-ai after a compaction',
    source: `${PYDANTIC_AI}tests/models/test_anthropic.py`,
    usage: of('gen_ai.usage.', {
      ...{ input_tokens: 212, output_tokens: 4, 'cache_creation.input_tokens': 4, 'cache_read.input_tokens': 5 },
      ...{ 'details.compaction_iterations': 1, 'details.message_iterations': 1 },
      ...{ 'details.compaction_input_tokens': 180, 'details.compaction_output_tokens': 3 },
      'details.compaction_cache_creation_input_tokens': 4,
      'details.compaction_cache_read_input_tokens': 5,
      ...{ 'details.cache_write_tokens': 4, 'details.cache_read_tokens': 5 },
    }),
    counts: { inputTokens: 212, cacheReadTokens: 5, cacheWriteTokens: 4, outputTokens: 4 },
    why: 'The input is 180 + 4 + 5 of the compaction and 23 of the message.',
  },
  {
    producer: 'the usage of pydantic-ai',
    source: `${PYDANTIC_AI}pydantic_ai_slim/pydantic_ai/usage.py`,
    usage: {
      ...{ input_tokens: 221, cache_write_tokens: 0, cache_read_tokens: 128, output_tokens: 122 },
      ...{ input_audio_tokens: 0, cache_audio_read_tokens: 0, output_audio_tokens: 0 },
      ...{ details: { reasoning_tokens: 111 }, output_reasoning_tokens: 111 },
    },
    counts: {
      ...{ inputTokens: 221, cacheReadTokens: 128, cacheWriteTokens: 0, audioInputTokens: 0 },
      ...{ outputTokens: 122, reasoningTokens: 111, audioOutputTokens: 0 },
    },
    why: 'The input includes the cache. The key `cache_write_tokens` tells it from the log of Claude Code.',
  },
  {
    producer: 'a request in the log of Claude Code',
    source: 'https://docs.anthropic.com/en/docs/claude-code/monitoring-usage',
    usage: {
      ...{ input_tokens: 0, output_tokens: 1, cache_read_tokens: 10, cache_creation_tokens: 0 },
      ...{ cost_usd: 0.001, duration_ms: 900 },
    },
    counts: { inputTokens: 10, cacheReadTokens: 10, cacheWriteTokens: 0, outputTokens: 1 },
    why: 'The counts of Anthropic in other names: the input leaves out the cache.',
  },
  {
    producer: 'the telemetry of the AI SDK 4',
    source:
      'https://github.com/Arize-ai/openinference/blob/main/js/packages/openinference-vercel/AI_SDK_V6_MIGRATION_PLAN.md',
    usage: of('ai.usage.', { promptTokens: 10, completionTokens: 20 }),
    counts: { inputTokens: 10, outputTokens: 20 },
  },
  {
    producer: 'the telemetry of the AI SDK 5',
    source: `${AI_SDK}otel/src/legacy-open-telemetry.ts`,
    usage: {
      ...of('ai.usage.', { inputTokens: 100, outputTokens: 50, totalTokens: 150 }),
      ...of('ai.usage.', { reasoningTokens: 10, cachedInputTokens: 20 }),
      ...of('gen_ai.usage.', { input_tokens: 100, output_tokens: 50 }),
    },
    counts: { inputTokens: 100, cacheReadTokens: 20, outputTokens: 50, reasoningTokens: 10, totalTokens: 150 },
  },
  {
    producer: 'the telemetry of the AI SDK 6',
    source: `${AI_SDK}otel/src/legacy-open-telemetry.ts`,
    usage: {
      ...of('ai.usage.', { inputTokens: 100, outputTokens: 50, totalTokens: 150 }),
      ...of('ai.usage.inputTokenDetails.', { noCacheTokens: 70, cacheReadTokens: 20, cacheWriteTokens: 10 }),
      ...of('ai.usage.outputTokenDetails.', { textTokens: 40, reasoningTokens: 10 }),
    },
    counts: {
      ...{ inputTokens: 100, cacheReadTokens: 20, cacheWriteTokens: 10 },
      ...{ outputTokens: 50, reasoningTokens: 10, totalTokens: 150 },
    },
  },
  {
    producer: 'Langfuse, of a completion of OpenAI',
    source: 'https://github.com/langfuse/langfuse/blob/main/packages/shared/src/server/ingestion/types.ts',
    usage: {
      ...{ input: 1290, output: 95, total: 3385, input_cached_tokens: 640, input_audio_tokens: 100 },
      ...{ output_reasoning_tokens: 1200, output_audio_tokens: 60 },
    },
    counts: {
      ...{ inputTokens: 2030, cacheReadTokens: 640, audioInputTokens: 100 },
      ...{ outputTokens: 1355, reasoningTokens: 1200, audioOutputTokens: 60, totalTokens: 3385 },
    },
    why: 'It takes each detail out of the input or the output.',
  },
  {
    producer: 'Codex, over a thread',
    source: 'https://github.com/PixelPaw-Labs/codex-trace/issues/154',
    usage: {
      ...{ input_tokens: 226_616, cache_creation_input_tokens: 0, cached_input_tokens: 176_640 },
      ...{ output_tokens: 1670, reasoning_output_tokens: 529, total_tokens: 228_286 },
    },
    counts: {
      ...{ inputTokens: 226_616, cacheReadTokens: 176_640, cacheWriteTokens: 0 },
      ...{ outputTokens: 1670, reasoningTokens: 529, totalTokens: 228_286 },
    },
  },
]
