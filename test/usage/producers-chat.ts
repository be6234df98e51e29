import { AI_SDK, CASSETTES, ENVOY, type ProducerUsage } from './producer-usage.ts'

/** Providers and servers with the interface of OpenAI. */
export const CHAT: readonly ProducerUsage[] = [
  {
    producer: 'Kimi, with reasoning',
    source: `${AI_SDK}moonshotai/src/__fixtures__/moonshotai-reasoning.json`,
    usage: {
      ...{ prompt_tokens: 20, completion_tokens: 30, total_tokens: 50, cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 22 },
    },
    counts: { inputTokens: 20, cacheReadTokens: 10, outputTokens: 30, reasoningTokens: 22, totalTokens: 50 },
  },
  {
    producer: 'DeepSeek, under both names of its cache',
    source: `${AI_SDK}deepseek/src/chat/__fixtures__/deepseek-json.json`,
    usage: {
      ...{ prompt_tokens: 495, completion_tokens: 144, total_tokens: 639 },
      ...{ prompt_tokens_details: { cached_tokens: 320 }, completion_tokens_details: { reasoning_tokens: 118 } },
      ...{ prompt_cache_hit_tokens: 320, prompt_cache_miss_tokens: 175 },
    },
    counts: { inputTokens: 495, cacheReadTokens: 320, outputTokens: 144, reasoningTokens: 118, totalTokens: 639 },
  },
  {
    producer: 'DeepSeek in Azure',
    source: `${AI_SDK}azure/src/__fixtures__/azure-deepseek-reasoning.1.chunks.txt`,
    usage: {
      ...{ prompt_tokens: 19, total_tokens: 1739, completion_tokens: 1720 },
      ...{ prompt_tokens_details: null, reasoning_tokens: 0 },
    },
    counts: { inputTokens: 19, outputTokens: 1720, reasoningTokens: 0, totalTokens: 1739 },
  },
  {
    producer: 'Azure OpenAI, with audio of none',
    source: `${AI_SDK}azure/src/__fixtures__/azure-deepseek-reasoning.1.json`,
    usage: { prompt_tokens: 19, completion_tokens: 1969, total_tokens: 1988, audio_prompt_tokens: 0 },
    counts: { inputTokens: 19, outputTokens: 1969, totalTokens: 1988 },
  },
  {
    producer: 'Azure OpenAI responses',
    source: `${AI_SDK}azure/src/__fixtures__/azure-code-interpreter-tool.1.chunks.txt`,
    usage: {
      ...{ input_tokens: 2143, input_tokens_details: { cached_tokens: 1280 }, output_tokens: 919 },
      ...{ output_tokens_details: { reasoning_tokens: 576 }, total_tokens: 3062 },
    },
    counts: { inputTokens: 2143, cacheReadTokens: 1280, outputTokens: 919, reasoningTokens: 576, totalTokens: 3062 },
  },
  {
    producer: 'OpenAI chat, with audio and text in the details',
    source: `${ENVOY}tests/internal/testopenai/cassettes/chat-text-to-audio.yaml`,
    usage: {
      ...{ prompt_tokens: 22, completion_tokens: 18, total_tokens: 40 },
      prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0, image_tokens: 0, text_tokens: 22 },
      completion_tokens_details: { audio_tokens: 12, reasoning_tokens: 0, text_tokens: 6 },
    },
    counts: {
      ...{ inputTokens: 22, cacheReadTokens: 0, audioInputTokens: 0, imageInputTokens: 0 },
      ...{ outputTokens: 18, reasoningTokens: 0, audioOutputTokens: 12, totalTokens: 40 },
    },
  },
  {
    producer: 'a transcription of OpenAI by its length',
    source: `${ENVOY}tests/internal/testopenai/cassettes/audio-transcription-basic.yaml`,
    usage: { type: 'duration', seconds: 7 },
    counts: { billedSeconds: 7 },
  },
  {
    producer: 'an edited image of OpenAI',
    source: `${AI_SDK}openai/src/image/openai-image-model.test.ts`,
    usage: {
      ...{ input_tokens: 12, output_tokens: 0, total_tokens: 12 },
      input_tokens_details: { image_tokens: 7, text_tokens: 5 },
    },
    counts: { inputTokens: 12, imageInputTokens: 7, outputTokens: 0, totalTokens: 12 },
  },
  {
    producer: 'OpenAI responses, with the tokens of an orchestration',
    source: `${AI_SDK}openai/src/responses/openai-responses-language-model.test.ts`,
    usage: {
      ...{ input_tokens: 120, output_tokens: 80, total_tokens: 265 },
      input_tokens_details: {
        ...{ cached_tokens: 0, orchestration_input_tokens: 40, orchestration_input_cached_tokens: 10 },
      },
      output_tokens_details: { reasoning_tokens: 0, orchestration_output_tokens: 25 },
    },
    counts: { inputTokens: 120, cacheReadTokens: 0, outputTokens: 80, reasoningTokens: 0, totalTokens: 265 },
    doubts: [
      'usage_conflict total_tokens',
      'usage_unread input_tokens_details/orchestration_input_tokens',
      'usage_unread input_tokens_details/orchestration_input_cached_tokens',
      'usage_unread output_tokens_details/orchestration_output_tokens',
    ],
    why: 'By the total they are beside the input and the output. No price of theirs is published.',
  },
  {
    producer: 'Groq, with its times',
    source: `${AI_SDK}groq/src/__fixtures__/groq-reasoning.chunks.txt`,
    usage: {
      ...{ queue_time: 0.171721454, prompt_tokens: 17, prompt_time: 0.000792801, completion_tokens: 1107 },
      ...{ completion_time: 3.206170277, total_tokens: 1124, total_time: 3.206963078 },
      completion_tokens_details: { reasoning_tokens: 963 },
    },
    counts: { inputTokens: 17, outputTokens: 1107, reasoningTokens: 963, totalTokens: 1124 },
  },
  {
    producer: 'Groq, around its usage',
    source: `${AI_SDK}groq/src/__fixtures__/groq-reasoning.chunks.txt`,
    usage: {
      x_groq: {
        id: 'req_01kh52nmbjem9bfhxdbabnjv0x',
        usage: {
          ...{ queue_time: 0.171721454, prompt_tokens: 17, prompt_time: 0.000792801, completion_tokens: 1107 },
          ...{ total_tokens: 1124, completion_tokens_details: { reasoning_tokens: 963 } },
        },
      },
    },
    counts: { inputTokens: 17, outputTokens: 1107, reasoningTokens: 963, totalTokens: 1124 },
  },
  {
    producer: 'Groq Compound, with the usage of each model',
    source: `${CASSETTES}test_groq/test_groq_model_web_search_tool.yaml`,
    usage: {
      usage: { prompt_tokens: 5296, completion_tokens: 387, total_tokens: 5683, prompt_time: 0.323124 },
      usage_breakdown: {
        models: [
          {
            model: 'llama-3.3-70b-versatile',
            usage: { prompt_tokens: 138, completion_tokens: 4, total_tokens: 142 },
          },
          {
            model: 'meta-llama/llama-4-scout-17b-16e-instruct',
            usage: { prompt_tokens: 495, completion_tokens: 106, total_tokens: 601 },
          },
        ],
      },
    },
    counts: {},
    doubts: [
      'usage_unread usage/prompt_tokens',
      'usage_unread usage/completion_tokens',
      'usage_unread usage/total_tokens',
      'usage_unread usage_breakdown/models/0/usage/prompt_tokens',
      'usage_unread usage_breakdown/models/0/usage/completion_tokens',
      'usage_unread usage_breakdown/models/0/usage/total_tokens',
      'usage_unread usage_breakdown/models/1/usage/prompt_tokens',
      'usage_unread usage_breakdown/models/1/usage/completion_tokens',
    ],
    why: 'An answer, not its usage: its models have different prices.',
  },
  {
    producer: 'Mistral, in its later name of the cache',
    source: `${AI_SDK}mistral/src/__fixtures__/mistral-incremental-tool-call.chunks.txt`,
    usage: {
      ...{ prompt_tokens: 171, total_tokens: 185, completion_tokens: 14 },
      prompt_tokens_details: { cached_tokens: 128 },
    },
    counts: { inputTokens: 171, cacheReadTokens: 128, outputTokens: 14, totalTokens: 185 },
  },
  {
    producer: 'Mistral, in a name of the details without s',
    source: `${AI_SDK}mistral/src/convert-mistral-usage.ts`,
    usage: {
      ...{ prompt_tokens: 150, completion_tokens: 25, total_tokens: 175 },
      prompt_token_details: { cached_tokens: 50 },
    },
    counts: { inputTokens: 150, cacheReadTokens: 50, outputTokens: 25, totalTokens: 175 },
  },
  {
    producer: 'a transcription of Mistral',
    source: `${AI_SDK}mistral/src/__fixtures__/mistral-transcription.json`,
    usage: {
      ...{ prompt_audio_seconds: 36, prompt_tokens: 13, completion_tokens: 151, total_tokens: 164, request_count: 1 },
    },
    counts: { inputTokens: 13, outputTokens: 151, totalTokens: 164, billedSeconds: 36 },
  },
  {
    producer: "a transcription of Mistral's library",
    source: `${AI_SDK}mistral/src/mistral-transcription-model.test.ts`,
    usage: { promptTokens: 13, completionTokens: 151, totalTokens: 164, promptAudioSeconds: 36, requestCount: 1 },
    counts: { inputTokens: 13, outputTokens: 151, totalTokens: 164, billedSeconds: 36 },
  },
  {
    producer: 'Cohere, with citations',
    source: `${AI_SDK}cohere/src/__fixtures__/cohere-citations.json`,
    usage: {
      billed_units: { input_tokens: 39, output_tokens: 27 },
      tokens: { input_tokens: 1683, output_tokens: 62 },
      cached_tokens: 992,
    },
    counts: { inputTokens: 39, outputTokens: 27 },
  },
  {
    producer: 'a ranking of Cohere',
    source: `${AI_SDK}cohere/src/reranking/__fixtures__/cohere-reranking.1.json`,
    usage: { billed_units: { search_units: 1 } },
    counts: { billedSearches: 1 },
  },
  {
    producer: 'Perplexity Sonar Deep Research',
    source: 'https://github.com/bgeneto/open-webui-cost-tracker/issues/6',
    usage: {
      ...{ prompt_tokens: 108, completion_tokens: 3256, total_tokens: 3364 },
      ...{ citation_tokens: 7299, num_search_queries: 74, reasoning_tokens: 73_248 },
    },
    counts: {
      ...{ inputTokens: 108, outputTokens: 3256, reasoningTokens: 73_248 },
      ...{ totalTokens: 3364, billedSearches: 74 },
    },
    doubts: ['usage_unread citation_tokens'],
    why: 'Citations have a price of their own, and so has the reasoning, which is beside the completion.',
  },
  {
    producer: 'Z.ai',
    source: `${CASSETTES}test_zai/test_zai_thinking_stream.yaml`,
    usage: {
      ...{ prompt_tokens: 13, completion_tokens: 564, total_tokens: 577 },
      ...{ prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 561 } },
    },
    counts: { inputTokens: 13, cacheReadTokens: 0, outputTokens: 564, reasoningTokens: 561, totalTokens: 577 },
  },
  {
    producer: 'MiniMax',
    source: 'https://platform.minimax.io/docs/api-reference/text-post',
    usage: {
      ...{ total_tokens: 249, total_characters: 0, prompt_tokens: 26, completion_tokens: 223 },
      completion_tokens_details: { reasoning_tokens: 214 },
    },
    counts: { inputTokens: 26, outputTokens: 223, reasoningTokens: 214, totalTokens: 249 },
  },
  {
    producer: 'DeepInfra over Gemini, whose completion leaves out reasoning, by the total',
    source: `${AI_SDK}deepinfra/src/deepinfra-chat-language-model.test.ts`,
    usage: {
      ...{ prompt_tokens: 19, completion_tokens: 84, total_tokens: 1184, prompt_tokens_details: null },
      completion_tokens_details: { reasoning_tokens: 1081 },
    },
    counts: { inputTokens: 19, outputTokens: 1165, reasoningTokens: 1081, totalTokens: 1184 },
  },
  {
    producer: 'Cerebras',
    source: `${AI_SDK}cerebras/src/fixtures/cerebras-structured-output-tools.1.json`,
    usage: {
      ...{ total_tokens: 387, completion_tokens: 65, prompt_tokens: 322 },
      completion_tokens_details: {
        ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0, reasoning_tokens: 58 },
      },
      prompt_tokens_details: { cached_tokens: 256 },
    },
    counts: { inputTokens: 322, cacheReadTokens: 256, outputTokens: 65, reasoningTokens: 58, totalTokens: 387 },
  },
  {
    producer: 'SGLang, with speculative decoding and images',
    source: 'https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/usage_processor.py',
    usage: {
      ...{ prompt_tokens: 300, completion_tokens: 60, total_tokens: 360, reasoning_tokens: 40 },
      prompt_tokens_details: { cached_tokens: 128, image_tokens: 150 },
      completion_tokens_details: { accepted_prediction_tokens: 30, rejected_prediction_tokens: 90 },
    },
    counts: {
      ...{ inputTokens: 300, cacheReadTokens: 128, imageInputTokens: 150 },
      ...{ outputTokens: 60, reasoningTokens: 40, totalTokens: 360 },
    },
    why: 'Its rejected drafts are no completion tokens, and may be more than these.',
  },
  {
    producer: 'the server of llama.cpp',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    usage: {
      ...{ completion_tokens: 10, prompt_tokens: 23, total_tokens: 33 },
      prompt_tokens_details: { cached_tokens: 0 },
    },
    counts: { inputTokens: 23, cacheReadTokens: 0, outputTokens: 10, totalTokens: 33 },
  },
  {
    producer: 'the timings of llama.cpp',
    source: 'https://github.com/ggml-org/llama.cpp/pull/15827',
    usage: {
      ...{ cache_n: 236, prompt_n: 1, prompt_ms: 30.958, prompt_per_token_ms: 30.958 },
      ...{ prompt_per_second: 32.301828283480845, predicted_n: 35, predicted_ms: 661.064 },
      ...{ predicted_per_token_ms: 18.887542857142858, predicted_per_second: 52.94494935437416 },
    },
    counts: { inputTokens: 237, cacheReadTokens: 236, outputTokens: 35 },
    why: 'The context is `prompt_n`, `cache_n` and `predicted_n`: the prompt leaves out the cache.',
  },
  {
    producer: 'LM Studio responses',
    source: `${AI_SDK}open-responses/src/responses/__fixtures__/lmstudio-basic.1.chunks.txt`,
    usage: {
      ...{ input_tokens: 31, output_tokens: 282, total_tokens: 313 },
      ...{ input_tokens_details: { cached_tokens: 30 }, output_tokens_details: { reasoning_tokens: 0 } },
    },
    counts: { inputTokens: 31, cacheReadTokens: 30, outputTokens: 282, reasoningTokens: 0, totalTokens: 313 },
  },
  {
    producer: 'an image of ByteDance',
    source: `${AI_SDK}bytedance/src/bytedance-image-model.test.ts`,
    usage: { generated_images: 1, output_tokens: 4096, total_tokens: 4096 },
    counts: { outputTokens: 4096, totalTokens: 4096 },
  },
]
