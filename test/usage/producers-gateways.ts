import {
  AI_SDK,
  ALIBABA,
  CASSETTES,
  DASHSCOPE_SDK,
  ENVOY,
  GENAI_PRICES,
  LITELLM,
  NO_CACHE_WRITES,
  PORTKEY,
  type ProducerUsage,
} from './producer-usage.ts'

const litellm: readonly ProducerUsage[] = [
  {
    producer: 'LiteLLM over Anthropic',
    source: `${LITELLM}blob/main/litellm/llms/anthropic/chat/transformation.py`,
    usage: {
      ...{ prompt_tokens: 17, completion_tokens: 5, total_tokens: 22 },
      completion_tokens_details: { reasoning_tokens: 0, text_tokens: 5 },
      prompt_tokens_details: {
        ...{ cached_tokens: 0, text_tokens: 17, cache_write_tokens: 0, cache_creation_tokens: 0 },
        cache_creation_token_details: NO_CACHE_WRITES,
      },
      ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
      ...{ inference_geo: 'not_available', service_tier: 'standard' },
    },
    counts: {
      ...{ inputTokens: 17, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 },
      ...{ outputTokens: 5, reasoningTokens: 0, totalTokens: 22 },
    },
  },
  {
    producer: 'LiteLLM over Anthropic, with cache writes of two lives',
    source: `${LITELLM}blob/main/litellm/types/utils.py`,
    usage: {
      ...{ prompt_tokens: 130, completion_tokens: 25, total_tokens: 155 },
      prompt_tokens_details: {
        ...{ text_tokens: 100, cached_tokens: 20, cache_creation_tokens: 10 },
        cache_creation_token_details: { ephemeral_5m_input_tokens: 7, ephemeral_1h_input_tokens: 3 },
      },
    },
    counts: {
      ...{ inputTokens: 130, cacheReadTokens: 20, cacheWriteTokens: 10, cacheWrite1hTokens: 3 },
      ...{ outputTokens: 25, totalTokens: 155 },
    },
  },
  {
    producer: 'LiteLLM over Anthropic, with the cache writes of the answer',
    source: `${LITELLM}issues/29998`,
    usage: {
      ...{ prompt_tokens: 6200, completion_tokens: 40, total_tokens: 6240 },
      ...{ cache_creation_input_tokens: 6179, cache_read_input_tokens: 0 },
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 6179 },
    },
    counts: {
      ...{ inputTokens: 6200, cacheReadTokens: 0, cacheWriteTokens: 6179, cacheWrite1hTokens: 6179 },
      ...{ outputTokens: 40, totalTokens: 6240 },
    },
    why: 'Its prompt includes the cache, and its `cache_creation` is that of Anthropic.',
  },
  {
    producer: 'LiteLLM over DashScope, with an explicit cache',
    source: `${LITELLM}blob/main/tests/test_litellm/llms/dashscope/test_dashscope_cost_calculator.py`,
    usage: {
      ...{ prompt_tokens: 2059, completion_tokens: 201, total_tokens: 2260 },
      prompt_tokens_details: {
        ...{ cached_tokens: 0, text_tokens: 2059, cache_type: 'ephemeral', cache_creation_input_tokens: 2048 },
        cache_creation: { ephemeral_5m_input_tokens: 2048 },
      },
      completion_tokens_details: { reasoning_tokens: 170 },
    },
    counts: {
      ...{ inputTokens: 2059, cacheReadTokens: 0, cacheWriteTokens: 2048 },
      ...{ outputTokens: 201, reasoningTokens: 170, totalTokens: 2260 },
    },
  },
]

const openRouter: readonly ProducerUsage[] = [
  {
    producer: 'OpenRouter, with the key of the caller',
    source: 'https://github.com/tailcallhq/forgecode/issues/1641',
    usage: {
      ...{ prompt_tokens: 9171, completion_tokens: 113, total_tokens: 9284, cost: 0, is_byok: true },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      cost_details: {
        upstream_inference_cost: 0.0360795,
        upstream_inference_prompt_cost: 0.0343845,
        upstream_inference_completions_cost: 0.001695,
      },
      completion_tokens_details: { reasoning_tokens: 55, image_tokens: 0 },
    },
    counts: {
      ...{ inputTokens: 9171, cacheReadTokens: 0, audioInputTokens: 0 },
      ...{ outputTokens: 113, reasoningTokens: 55, imageOutputTokens: 0, totalTokens: 9284 },
    },
  },
  {
    producer: 'OpenRouter, with a video',
    source: GENAI_PRICES,
    usage: {
      ...{ prompt_tokens: 270, completion_tokens: 28, total_tokens: 298, cost: 0.000151, is_byok: false },
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 258 },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
      cost_details: { upstream_inference_cost: 0.000151, upstream_inference_prompt_cost: 0.000081 },
    },
    counts: {
      ...{ inputTokens: 270, cacheReadTokens: 0, cacheWriteTokens: 0, audioInputTokens: 0 },
      ...{ outputTokens: 28, reasoningTokens: 0, imageOutputTokens: 0, totalTokens: 298 },
    },
    doubts: ['usage_unread prompt_tokens_details/video_tokens'],
    why: 'Some models have a price for video that differs from those of text and of images (Gemini Embedding 2).',
  },
  {
    producer: 'OpenRouter, with a search',
    source: `${CASSETTES}test_openrouter/test_openrouter_web_search_annotations_stream.yaml`,
    usage: {
      ...{ prompt_tokens: 2317, completion_tokens: 53, total_tokens: 2370, cost: 0.0076509169 },
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0, audio_tokens: 0 },
      server_tool_use_details: { web_search_requests: 1, tool_calls_requested: 1, tool_calls_executed: 1 },
    },
    counts: {
      ...{ inputTokens: 2317, cacheReadTokens: 0, cacheWriteTokens: 0, audioInputTokens: 0, outputTokens: 53 },
      ...{ reasoningTokens: 0, imageOutputTokens: 0, audioOutputTokens: 0, totalTokens: 2370, billedSearches: 1 },
    },
    why: 'The cost is 0.007 more than that of the tokens: the search is billed.',
  },
  {
    producer: 'OpenRouter responses',
    source: `${CASSETTES}test_openai_responses/test_openai_responses_raw_cot_stream_openrouter.yaml`,
    usage: {
      ...{ input_tokens: 78, output_tokens: 37, total_tokens: 115, cost: 0.0000113, is_byok: false },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 22 },
      cost_details: { upstream_inference_cost: null, upstream_inference_input_cost: 0.0000039 },
    },
    counts: { inputTokens: 78, cacheReadTokens: 0, outputTokens: 37, reasoningTokens: 22, totalTokens: 115 },
  },
  {
    producer: 'the generation endpoint of OpenRouter',
    source: 'https://openrouter.ai/docs/agent-sdk/typescript/operations/getgenerationresponse',
    usage: {
      ...{ tokens_prompt: 10, tokens_completion: 25, native_tokens_prompt: 10, native_tokens_completion: 25 },
      ...{ native_tokens_completion_images: 0, native_tokens_reasoning: 5, native_tokens_cached: 3 },
      ...{ num_media_prompt: 1, num_input_audio_prompt: 0, num_media_completion: 0, num_search_results: 5 },
      ...{ total_cost: 0.0015, cache_discount: 0.0002, upstream_inference_cost: 0.0012, usage: 0.0015 },
      ...{ latency: 1250, generation_time: 1200, is_byok: false },
    },
    counts: { inputTokens: 10, cacheReadTokens: 3, outputTokens: 25, reasoningTokens: 5, imageOutputTokens: 0 },
  },
  {
    producer: 'the generation endpoint of OpenRouter, whose tokenizer counts otherwise than that of the model',
    source: 'https://openrouter.ai/docs/use-cases/usage-accounting',
    usage: {
      ...{ tokens_prompt: 64, tokens_completion: 1, native_tokens_prompt: 89, native_tokens_completion: 1 },
      ...{ native_tokens_cached: 0, provider_name: 'OpenAI' },
    },
    counts: { inputTokens: 89, cacheReadTokens: 0, outputTokens: 1 },
    why: 'The counts of the model are billed: `usage.prompt_tokens` of the same answer is 89. The others are apart.',
  },
]

const gateways: readonly ProducerUsage[] = [
  {
    producer: 'Portkey over Anthropic, whose prompt leaves out the cache, by the total',
    source: `${PORTKEY}anthropic/chatComplete.ts`,
    usage: {
      ...{ prompt_tokens: 21, completion_tokens: 393, total_tokens: 2402 },
      prompt_tokens_details: { cached_tokens: 1800 },
      ...{ cache_read_input_tokens: 1800, cache_creation_input_tokens: 188 },
    },
    counts: {
      ...{ inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188 },
      ...{ outputTokens: 393, totalTokens: 2402 },
    },
    why: 'The total is prompt, completion, cache reads and cache writes: the cache is beside the prompt.',
  },
  {
    producer: 'Portkey over Bedrock',
    source: `${PORTKEY}bedrock/chatComplete.ts`,
    usage: {
      ...{ prompt_tokens: 2009, completion_tokens: 393, total_tokens: 2402 },
      prompt_tokens_details: { cached_tokens: 1800 },
      ...{ cache_read_input_tokens: 1800, cache_creation_input_tokens: 188 },
    },
    counts: {
      ...{ inputTokens: 2009, cacheReadTokens: 1800, cacheWriteTokens: 188 },
      ...{ outputTokens: 393, totalTokens: 2402 },
    },
  },
  {
    producer: 'Portkey over Gemini, whose completion leaves out thoughts, by the total',
    source: `${PORTKEY}google/chatComplete.ts`,
    usage: {
      ...{ prompt_tokens: 9, completion_tokens: 13, total_tokens: 324 },
      completion_tokens_details: { reasoning_tokens: 302, audio_tokens: 0 },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    },
    counts: {
      ...{ inputTokens: 9, cacheReadTokens: 0, audioInputTokens: 0, outputTokens: 315, reasoningTokens: 302 },
      ...{ audioOutputTokens: 0, totalTokens: 324 },
    },
  },
  {
    producer: 'Envoy AI Gateway over Vertex',
    source: `${ENVOY}internal/translator/openai_gcpvertexai_test.go`,
    usage: {
      ...{ completion_tokens: 25, completion_tokens_details: { reasoning_tokens: 10 } },
      ...{ prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 10 }, total_tokens: 35 },
    },
    counts: { inputTokens: 10, cacheReadTokens: 10, outputTokens: 25, reasoningTokens: 10, totalTokens: 35 },
  },
  {
    producer: 'Envoy AI Gateway, with a cache write',
    source: `${ENVOY}internal/translator/openai_completions_test.go`,
    usage: {
      ...{ prompt_tokens: 5, completion_tokens: 8, total_tokens: 13 },
      prompt_tokens_details: { cached_tokens: 2, cache_creation_input_tokens: 1 },
    },
    counts: { inputTokens: 5, cacheReadTokens: 2, cacheWriteTokens: 1, outputTokens: 8, totalTokens: 13 },
  },
  {
    producer: 'the metadata of Envoy AI Gateway',
    source: `${ENVOY}api/v1beta1/ai_gateway_route.go`,
    usage: {
      ...{ llm_input_token: 5, llm_cached_input_token: 2, llm_cache_creation_input_token: 1, llm_output_token: 8 },
      ...{ llm_reasoning_token: 3, llm_total_token: 13 },
    },
    counts: {
      ...{ inputTokens: 5, cacheReadTokens: 2, cacheWriteTokens: 1 },
      ...{ outputTokens: 8, reasoningTokens: 3, totalTokens: 13 },
    },
    why: 'Names of its examples. Inclusive: its sample cost is that of the input less the cache, and of the cache.',
  },
  {
    producer: 'CLIProxyAPI over Gemini that only thought, by the total',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/5733',
    usage: {
      ...{ completion_tokens: 0, total_tokens: 81, prompt_tokens: 21 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    counts: { inputTokens: 21, outputTokens: 60, reasoningTokens: 60, totalTokens: 81 },
  },
  {
    producer: 'any-llm over Gemini, which loses the thoughts',
    source: 'https://github.com/mozilla-ai/any-llm/issues/1290',
    usage: { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    counts: { inputTokens: 20, outputTokens: 198, totalTokens: 623 },
    doubts: ['usage_conflict total_tokens'],
    why: 'The total has 405 billed tokens that no other member has.',
  },
  {
    producer: 'Cloudflare Workers AI',
    source: 'https://github.com/cloudflare/ai/issues/509',
    usage: {
      ...{ prompt_tokens: 6377, completion_tokens: 349, total_tokens: 6726 },
      prompt_tokens_details: { cached_tokens: 2861 },
    },
    counts: { inputTokens: 6377, cacheReadTokens: 2861, outputTokens: 349, totalTokens: 6726 },
  },
  {
    producer: 'the AI gateway of Vercel, for an image',
    source: `${AI_SDK}gateway/src/gateway-image-model.test.ts`,
    usage: { inputTokens: 27, outputTokens: 6240, totalTokens: 6267 },
    counts: { inputTokens: 27, outputTokens: 6240, totalTokens: 6267 },
  },
]

const alibaba: readonly ProducerUsage[] = [
  {
    producer: 'DashScope chat, with a cache read and a cache write',
    source: `${AI_SDK}alibaba/src/alibaba-chat-language-model.test.ts`,
    usage: {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      prompt_tokens_details: { cached_tokens: 80, cache_creation_input_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 10 },
    },
    counts: {
      ...{ inputTokens: 100, cacheReadTokens: 80, cacheWriteTokens: 20 },
      ...{ outputTokens: 50, reasoningTokens: 10, totalTokens: 150 },
    },
  },
  {
    producer: 'DashScope chat, whose text includes reasoning',
    source: `${ALIBABA}context-cache`,
    usage: {
      ...{ prompt_tokens: 29_719, completion_tokens: 435, total_tokens: 30_154 },
      completion_tokens_details: { reasoning_tokens: 382, text_tokens: 435 },
      prompt_tokens_details: {
        ...{ text_tokens: 29_719, cache_creation: { ephemeral_5m_input_tokens: 29_713 } },
        ...{ cache_creation_input_tokens: 29_713, cache_type: 'ephemeral', cached_tokens: 0 },
      },
    },
    counts: {
      ...{ inputTokens: 29_719, cacheReadTokens: 0, cacheWriteTokens: 29_713 },
      ...{ outputTokens: 435, reasoningTokens: 382, totalTokens: 30_154 },
    },
  },
  {
    producer: 'DashScope responses, with a cache write in its details alone',
    source: `${ALIBABA}context-cache`,
    usage: {
      ...{ input_tokens: 1524, output_tokens: 1534, total_tokens: 3058 },
      ...{ input_tokens_details: { cached_tokens: 1305 }, output_tokens_details: { reasoning_tokens: 1187 } },
      x_details: [
        {
          ...{ input_tokens: 1524, output_tokens: 1534, total_tokens: 3058, x_billing_type: 'response_api' },
          output_tokens_details: { reasoning_tokens: 1187 },
          prompt_tokens_details: {
            ...{ cache_creation: { ephemeral_5m_input_tokens: 213 }, cache_creation_input_tokens: 213 },
            ...{ cache_type: 'ephemeral', cached_tokens: 1305 },
          },
        },
      ],
    },
    counts: {
      ...{ inputTokens: 1524, cacheReadTokens: 1305, cacheWriteTokens: 213 },
      ...{ outputTokens: 1534, reasoningTokens: 1187, totalTokens: 3058 },
    },
    why: 'The write costs 125 % of the input price, and only `x_details` has it. The rest is a repetition.',
  },
  {
    producer: 'DashScope responses, with details that repeat the totals',
    source: `${ALIBABA}openai-compatible-responses`,
    usage: {
      ...{ input_tokens: 54, output_tokens: 662, total_tokens: 716 },
      ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 447 } },
      x_details: [
        {
          ...{ input_tokens: 54, output_tokens: 662, total_tokens: 716, x_billing_type: 'response_api' },
          output_tokens_details: { reasoning_tokens: 447 },
        },
      ],
    },
    counts: { inputTokens: 54, cacheReadTokens: 0, outputTokens: 662, reasoningTokens: 447, totalTokens: 716 },
  },
  {
    producer: 'DashScope, with an image',
    source: `${ALIBABA}vision`,
    usage: { output_tokens: 55, input_tokens: 1271, image_tokens: 1247 },
    counts: { inputTokens: 1271, imageInputTokens: 1247, outputTokens: 55 },
  },
  {
    producer: 'an embedding of DashScope, whose input leaves out the image, by the total',
    source: `${ALIBABA}multimodal-embedding-api-reference`,
    usage: { input_tokens: 43, image_tokens: 1247, total_tokens: 1290 },
    counts: { inputTokens: 43, imageInputTokens: 1247, totalTokens: 1290 },
    why: 'No price book prices an image that is more than the input: there is no cost.',
  },
  {
    producer: 'an embedding of DashScope, whose image may be within the input or beside it',
    source: `${ALIBABA}multimodal-embedding-api-reference`,
    usage: { input_tokens: 43, image_tokens: 1247 },
    counts: { inputTokens: 43, imageInputTokens: 1247 },
    why: 'More image tokens than input may be beside it; no price book prices them.',
  },
  {
    producer: 'a transcription of DashScope',
    source: DASHSCOPE_SDK,
    usage: { input_tokens_details: { text_tokens: 0 }, output_tokens_details: { text_tokens: 6 }, seconds: 1 },
    counts: { billedSeconds: 1 },
    doubts: ['usage_unread output_tokens_details/text_tokens'],
  },
]

/** Gateways, and the interfaces of Alibaba. */
export const GATEWAYS: readonly ProducerUsage[] = [...litellm, ...openRouter, ...gateways, ...alibaba]
