import { AI_SDK, CASSETTES, GENAI_PRICES, NO_CACHE_WRITES, type ProducerUsage } from './producer-usage.ts'

const anthropic: readonly ProducerUsage[] = [
  {
    producer: 'Anthropic, after a compaction',
    source: `${AI_SDK}anthropic/src/__fixtures__/anthropic-compaction.1.json`,
    usage: {
      ...{ input_tokens: 682, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1320 },
      cache_creation: NO_CACHE_WRITES,
      iterations: [
        { type: 'compaction', input_tokens: 60_385, output_tokens: 592, cache_creation: NO_CACHE_WRITES },
        { type: 'message', input_tokens: 682, output_tokens: 1320, cache_creation: NO_CACHE_WRITES },
      ],
      ...{ service_tier: 'standard', inference_geo: 'global', server_tool_use: { web_search_requests: 0 } },
    },
    counts: {
      ...{ inputTokens: 61_067, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 },
      ...{ outputTokens: 1912, billedSearches: 0 },
    },
    why: 'The totals leave out the compaction, which is billed: the sum of the iterations is right.',
  },
  {
    producer: 'Anthropic, after a compaction that wrote the cache',
    source: GENAI_PRICES,
    usage: {
      ...{ input_tokens: 180, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 8 },
      cache_creation: NO_CACHE_WRITES,
      iterations: [
        {
          ...{ type: 'compaction', input_tokens: 100, cache_creation_input_tokens: 55_096, cache_read_input_tokens: 0 },
          cache_creation: { ephemeral_5m_input_tokens: 55_096, ephemeral_1h_input_tokens: 0 },
          output_tokens: 82,
        },
        {
          ...{ type: 'message', input_tokens: 180, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
          cache_creation: NO_CACHE_WRITES,
          output_tokens: 8,
        },
      ],
      ...{ service_tier: 'standard', server_tool_use: { web_fetch_requests: 0, web_search_requests: 0 } },
    },
    counts: {
      ...{ inputTokens: 55_376, cacheReadTokens: 0, cacheWriteTokens: 55_096, cacheWrite1hTokens: 0 },
      ...{ outputTokens: 90, billedSearches: 0 },
    },
  },
  {
    producer: 'Anthropic, with an advisor',
    source: `${AI_SDK}anthropic/src/__fixtures__/anthropic-advisor-20260301.1.json`,
    usage: {
      ...{ input_tokens: 2414, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 3200 },
      iterations: [
        { type: 'message', input_tokens: 1051, output_tokens: 35 },
        { type: 'advisor_message', model: 'claude-opus-4-7', input_tokens: 2728, output_tokens: 874 },
        { type: 'message', input_tokens: 1363, output_tokens: 3165 },
      ],
    },
    counts: { inputTokens: 2414, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 3200 },
    doubts: ['usage_unread iterations/1/input_tokens', 'usage_unread iterations/1/output_tokens'],
    why: 'The advisor is billed at the prices of its own model, and the totals leave it out.',
  },
  {
    producer: 'Anthropic, of one iteration',
    source: GENAI_PRICES,
    usage: {
      ...{ input_tokens: 136, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 16 },
      iterations: [{ type: 'message', input_tokens: 136, output_tokens: 16 }],
    },
    counts: { inputTokens: 136, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 16 },
  },
  {
    producer: 'Anthropic, with an answer of a fallback model',
    source: `${AI_SDK}anthropic/src/__fixtures__/anthropic-fallback.chunks.txt`,
    usage: {
      ...{ input_tokens: 412, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 264 },
      iterations: [
        { type: 'message', model: 'claude-fable-5', input_tokens: 408, output_tokens: 0 },
        { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 412, output_tokens: 264 },
      ],
    },
    counts: { inputTokens: 412, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 264 },
    why: 'The totals are those of the model that answered (`convert-anthropic-usage.ts` of the AI SDK).',
  },
  {
    producer: 'the AI SDK over Anthropic, with the usage that it passes on',
    source: 'https://github.com/get-convex/agent/issues/191',
    usage: {
      ...{ cache_creation_input_tokens: 46_209, cache_read_input_tokens: 0, input_tokens: 337, output_tokens: 342 },
      cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 46_209 },
      service_tier: 'standard',
    },
    counts: {
      ...{ inputTokens: 46_546, cacheReadTokens: 0, cacheWriteTokens: 46_209, cacheWrite1hTokens: 0 },
      outputTokens: 342,
    },
  },
]

const bedrock: readonly ProducerUsage[] = [
  {
    producer: 'Bedrock Converse, under both names of its cache',
    source: GENAI_PRICES,
    usage: {
      ...{ cacheReadInputTokenCount: 2492, cacheReadInputTokens: 2492 },
      ...{ cacheWriteInputTokenCount: 0, cacheWriteInputTokens: 0 },
      ...{ inputTokens: 22, outputTokens: 13, serverToolUsage: {}, totalTokens: 2527 },
    },
    counts: {
      ...{ inputTokens: 2514, cacheReadTokens: 2492, cacheWriteTokens: 0 },
      ...{ outputTokens: 13, totalTokens: 2527 },
    },
  },
  {
    producer: 'Bedrock Converse, with cache writes of five minutes',
    source: `${CASSETTES}test_bedrock/test_bedrock_cache_messages_with_document_as_last_content.yaml`,
    usage: {
      cacheDetails: [{ inputTokens: 236, ttl: '5m' }],
      ...{ cacheReadInputTokenCount: 1712, cacheReadInputTokens: 1712 },
      ...{ cacheWriteInputTokenCount: 236, cacheWriteInputTokens: 236 },
      ...{ inputTokens: 3, outputTokens: 121, serverToolUsage: {}, totalTokens: 2072 },
    },
    counts: {
      ...{ inputTokens: 1951, cacheReadTokens: 1712, cacheWriteTokens: 236 },
      ...{ outputTokens: 121, totalTokens: 2072 },
    },
  },
  {
    producer: 'Bedrock responses, with a cache write',
    source: `${CASSETTES}test_bedrock_mantle/test_reused_tool_call_ids[stream].yaml`,
    usage: {
      ...{ input_tokens: 158, input_tokens_details: { cache_write_tokens: 43, cached_tokens: 0 }, output_tokens: 32 },
      ...{ output_tokens_details: { reasoning_tokens: 10 }, total_tokens: 190 },
    },
    counts: {
      ...{ inputTokens: 158, cacheReadTokens: 0, cacheWriteTokens: 43 },
      ...{ outputTokens: 32, reasoningTokens: 10, totalTokens: 190 },
    },
  },
]

const google: readonly ProducerUsage[] = [
  {
    producer: 'Gemini, with a video and its sound',
    source: GENAI_PRICES,
    usage: {
      ...{ promptTokenCount: 4610, candidatesTokenCount: 101, totalTokenCount: 4711 },
      promptTokensDetails: [
        { modality: 'VIDEO', tokenCount: 3096 },
        { modality: 'TEXT', tokenCount: 14 },
        { modality: 'AUDIO', tokenCount: 1500 },
      ],
      candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 101 }],
    },
    counts: { inputTokens: 4610, audioInputTokens: 1500, outputTokens: 101, totalTokens: 4711 },
    why: 'Gemini bills video in a prompt as text; Gemini 3.1 Flash Live and Gemini Embedding 2 have prices of their own.',
  },
  {
    producer: 'Gemini, with an image as output',
    source: GENAI_PRICES,
    usage: {
      ...{ promptTokenCount: 33, candidatesTokenCount: 1780, thoughtsTokenCount: 529, totalTokenCount: 2342 },
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 33 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
    },
    counts: {
      ...{ inputTokens: 33, outputTokens: 2309, reasoningTokens: 529 },
      ...{ imageOutputTokens: 1120, totalTokens: 2342 },
    },
  },
  {
    producer: 'Gemini with a search, whose results are beside the prompt',
    source: GENAI_PRICES,
    usage: {
      ...{ promptTokenCount: 294, candidatesTokenCount: 230, thoughtsTokenCount: 158, totalTokenCount: 1287 },
      ...{ toolUsePromptTokenCount: 605, toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 605 }] },
      ...{ promptTokensDetails: [{ modality: 'TEXT', tokenCount: 294 }], serviceTier: 'standard' },
    },
    counts: { inputTokens: 899, outputTokens: 388, reasoningTokens: 158, totalTokens: 1287 },
  },
  {
    producer: 'Vertex in a flexible tier',
    source: `${CASSETTES}test_google/test_google_vertex_service_tier_flex_stream.yaml`,
    usage: {
      ...{ promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 106, thoughtsTokenCount: 100 },
      ...{ trafficType: 'ON_DEMAND_FLEX', promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }] },
      candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }],
    },
    counts: { inputTokens: 5, outputTokens: 101, reasoningTokens: 100, totalTokens: 106 },
  },
  {
    producer: 'Gemini Live, whose details are those of the whole session',
    source: `${AI_SDK}google/src/speech-translation/__fixtures__/google-live-speech-translation.chunks.txt`,
    usage: {
      ...{ promptTokenCount: 50, responseTokenCount: 50, totalTokenCount: 100 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 535 },
        { modality: 'AUDIO', tokenCount: 50 },
      ],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
    },
    counts: { inputTokens: 50, audioInputTokens: 50, outputTokens: 50, audioOutputTokens: 50, totalTokens: 100 },
    doubts: ['usage_unread promptTokensDetails/0'],
    why: 'The details are more than the prompt, and which of both is billed is not published.',
  },
  {
    producer: 'Gemini Interactions, with results of a search',
    source: `${AI_SDK}google/src/interactions/__fixtures__/google-search.chunks.txt`,
    usage: {
      ...{ total_tokens: 1983, total_input_tokens: 22, total_cached_tokens: 0, total_output_tokens: 590 },
      ...{ total_tool_use_tokens: 198, total_thought_tokens: 1173 },
      input_tokens_by_modality: [{ modality: 'text', tokens: 22 }],
      tool_use_tokens_by_modality: [{ modality: 'text', tokens: 198 }],
    },
    counts: {
      ...{ inputTokens: 220, cacheReadTokens: 0, outputTokens: 1763, reasoningTokens: 1173, totalTokens: 1983 },
    },
  },
  {
    producer: 'Gemini Interactions, with a video as output',
    source: `${AI_SDK}google/src/interactions/build-google-interactions-stream-transform.test.ts`,
    usage: {
      total_output_tokens: 57_939,
      output_tokens_by_modality: [
        { modality: 'video', tokens: 57_920 },
        { modality: 'text', tokens: 19 },
      ],
    },
    counts: { outputTokens: 57_939 },
    doubts: ['usage_unread output_tokens_by_modality/0'],
    why: 'Gemini Omni Flash: 17.5 for video, 9 for text.',
  },
  {
    producer: 'an answer of Gemini CLI in its log',
    source: 'https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/telemetry/loggers.test.ts',
    usage: {
      ...{ input_token_count: 17, output_token_count: 50, cached_content_token_count: 10 },
      ...{ thoughts_token_count: 5, tool_token_count: 2, total_token_count: 74 },
    },
    counts: { inputTokens: 19, cacheReadTokens: 10, outputTokens: 55, reasoningTokens: 5, totalTokens: 74 },
    why: 'The counts of `usageMetadata` in other names: thoughts and tool use are beside. The total is their sum.',
  },
]

const xai: readonly ProducerUsage[] = [
  {
    producer: 'xAI chat, with every member',
    source: `${AI_SDK}xai/src/__fixtures__/xai-text.chunks.txt`,
    usage: {
      ...{ prompt_tokens: 12, completion_tokens: 1, total_tokens: 303 },
      prompt_tokens_details: { text_tokens: 12, audio_tokens: 0, image_tokens: 0, cached_tokens: 11 },
      completion_tokens_details: {
        ...{ reasoning_tokens: 290, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      },
      ...{ num_sources_used: 0, cost_in_usd_ticks: 1_466_250 },
    },
    counts: {
      ...{ inputTokens: 12, cacheReadTokens: 11, audioInputTokens: 0, imageInputTokens: 0 },
      ...{ outputTokens: 291, reasoningTokens: 290, audioOutputTokens: 0, totalTokens: 303, billedSearches: 0 },
    },
  },
  {
    producer: "xAI's library",
    source: `${CASSETTES}test_xai/test_xai_builtin_code_execution_tool.xai.yaml`,
    usage: {
      ...{ completion_tokens: 52, prompt_tokens: 1889, total_tokens: 2102, prompt_text_tokens: 1889 },
      ...{ reasoning_tokens: 161, cached_prompt_text_tokens: 1347 },
      server_side_tools_used: ['SERVER_SIDE_TOOL_CODE_EXECUTION'],
    },
    counts: {
      ...{ inputTokens: 1889, cacheReadTokens: 1347 },
      ...{ outputTokens: 213, reasoningTokens: 161, totalTokens: 2102 },
    },
  },
  {
    producer: "xAI's library, with an image",
    source: `${CASSETTES}test_xai/test_xai_image_url_tool_response.xai.yaml`,
    usage: {
      ...{ completion_tokens: 8, prompt_tokens: 657, total_tokens: 665 },
      ...{ prompt_text_tokens: 401, prompt_image_tokens: 256, cached_prompt_text_tokens: 371 },
    },
    counts: { inputTokens: 657, cacheReadTokens: 371, imageInputTokens: 256, outputTokens: 8, totalTokens: 665 },
  },
  {
    producer: 'xAI responses, with a search of X',
    source: `${AI_SDK}xai/src/responses/__fixtures__/xai-x-search-tool.chunks.txt`,
    usage: {
      ...{ input_tokens: 27_236, output_tokens: 3077, total_tokens: 30_313 },
      ...{ input_tokens_details: { cached_tokens: 4585 }, output_tokens_details: { reasoning_tokens: 1091 } },
      ...{ num_sources_used: 0, num_server_side_tools_used: 6 },
      server_side_tool_usage_details: {
        ...{ web_search_calls: 0, x_search_calls: 1, code_interpreter_calls: 0, file_search_calls: 0 },
        ...{ mcp_calls: 0, document_search_calls: 0 },
      },
    },
    counts: {
      ...{ inputTokens: 27_236, cacheReadTokens: 4585, outputTokens: 3077, reasoningTokens: 1091 },
      ...{ totalTokens: 30_313, billedSearches: 1 },
    },
    why: 'Searches of the web and of X are billed per call (https://docs.x.ai/developers/pricing).',
  },
  {
    producer: 'xAI responses, with the size of the context',
    source: `${AI_SDK}xai/src/responses/__fixtures__/xai-image-generation-tool.1.chunks.txt`,
    usage: {
      ...{ input_tokens: 100, output_tokens: 50, total_tokens: 150 },
      ...{ input_tokens_details: { cached_tokens: 20 }, output_tokens_details: { reasoning_tokens: 30 } },
      ...{ num_sources_used: 0, cost_in_usd_ticks: 123_456, context_details: { input_tokens: 80, output_tokens: 20 } },
    },
    counts: {
      ...{ inputTokens: 100, cacheReadTokens: 20, outputTokens: 50, reasoningTokens: 30 },
      ...{ totalTokens: 150, billedSearches: 0 },
    },
    why: '`context_details` is the last step, which the totals include.',
  },
]

/** Providers with an interface of their own. */
export const MODELS: readonly ProducerUsage[] = [...anthropic, ...bedrock, ...google, ...xai]
