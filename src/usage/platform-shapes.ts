import type { Shape } from './shape.ts'

/**
 * Cohere bills other counts than it processes: with `billed_units`, those are read, because prices are per billed token. The cache
 * is a part of what was processed.
 */
export const cohereBilled: Shape = {
  needs: ['billed_units'],
  input: ['billed_units/input_tokens'],
  output: ['billed_units/output_tokens'],
  apart: ['tokens/input_tokens+tokens/output_tokens+cached_tokens'],
}

/** {@link cohereBilled} without `billed_units`. */
export const cohereProcessed: Shape = {
  lacks: ['billed_units'],
  input: ['tokens/input_tokens'],
  cacheRead: ['cached_tokens'],
  output: ['tokens/output_tokens'],
}

/** Ollama's `/api/chat` and `/api/generate`, and its JavaScript library. */
export const ollama: Shape = {
  input: ['prompt_eval_count'],
  output: ['eval_count'],
}

/** Bodies of Amazon Titan in Bedrock's InvokeModel: one result, or several whose counts are added. */
export const titan: Shape = {
  input: ['input_text_token_count'],
  output: ['total_output_text_token_count', 'results/*/token_count'],
}

/** Bodies of Llama in Bedrock's InvokeModel. */
export const bedrockLlama: Shape = {
  input: ['prompt_token_count'],
  output: ['generation_token_count'],
}

/** Text generation of watsonx.ai: one result, or the answer with its `results`. */
export const watsonx: Shape = {
  input: ['input_token_count', 'results/*/input_token_count'],
  output: ['generated_token_count', 'results/*/generated_token_count'],
}

/** `details` of Hugging Face's Text Generation Inference: the prompt as its length, or as a list of its tokens. */
export const textGeneration: Shape = {
  input: ['input_length', 'prefill/length'],
  output: ['generated_tokens'],
}

/** `usage` and `usageDetails` of Langfuse. The parts of the input, and of the output, are beside it. */
export const langfuse: Shape = {
  input: ['input'],
  toolUse: ['input_audio_tokens+input_image_tokens'],
  cacheRead: ['input_cached_tokens', 'input_cache_read', 'cache_read_input_tokens'],
  cacheWrite: ['input_cache_creation', 'cache_creation_input_tokens'],
  cache: 'beside',
  output: ['output+output_audio_tokens+output_image_tokens'],
  reasoning: ['output_reasoning_tokens', 'output_reasoning'],
  thinking: 'beside',
  total: ['total'],
}

/** Statistics of a generation of OpenRouter: the model's own tokens are billed, those of a common tokenizer are not. */
export const openRouterGeneration: Shape = {
  input: ['native_tokens_prompt'],
  cacheRead: ['native_tokens_cached'],
  output: ['native_tokens_completion'],
  reasoning: ['native_tokens_reasoning'],
  apart: ['tokens_prompt+tokens_completion'],
}

/** Dynamic metadata of Envoy AI Gateway, in the names of its examples. */
export const envoyMetadata: Shape = {
  input: ['llm_input_token'],
  cacheRead: ['llm_cached_input_token'],
  cacheWrite: ['llm_cache_creation_input_token'],
  output: ['llm_output_token'],
  reasoning: ['llm_reasoning_token'],
  total: ['llm_total_token'],
}

/** `timings` of llama.cpp's server. */
export const llamaCpp: Shape = {
  input: ['prompt_n'],
  cacheRead: ['cache_n'],
  cache: 'beside',
  output: ['predicted_n'],
}

/**
 * Attributes of OpenTelemetry's GenAI spans, in the spellings of the conventions and of the instrumentations that differ from them, such
 * as OpenLLMetry and pydantic-ai (lists of names in use: langfuse#13571, langfuse#14902, mastra#15966, rig#1666): inclusive counts.
 */
export const genAiAttributes: Shape = {
  input: attributes('input_tokens', 'prompt_tokens'),
  cacheRead: attributes(
    ...['cache_read.input_tokens', 'cache_read_input_tokens', 'cache_read_tokens'],
    ...['cached_tokens', 'cached_input_tokens', 'input_cached_tokens'],
    ...['details.cache_read_input_tokens', 'details.cache_read_tokens', 'details.cached_tokens'],
  ),
  cacheWrite: attributes(
    ...['cache_creation.input_tokens', 'cache_creation_input_tokens', 'cache_write.input_tokens', 'cache_write_tokens'],
    ...['details.cache_creation_input_tokens', 'details.cache_write_tokens'],
  ),
  output: attributes('output_tokens', 'completion_tokens'),
  reasoning: attributes(
    ...['reasoning.output_tokens', 'reasoning_tokens', 'details.reasoning_tokens', 'details.thinking_tokens'],
  ),
  total: attributes('total_tokens'),
}

/** OpenInference: inclusive counts, but for some instrumentations of Anthropic. */
export const openInference: Shape = {
  input: ['llm.token_count.prompt'],
  cacheRead: ['llm.token_count.prompt_details.cache_read', 'llm.token_count.prompt_details.cache_input'],
  cacheWrite: ['llm.token_count.prompt_details.cache_write', 'llm.token_count.prompt_details.cache_creation'],
  output: ['llm.token_count.completion'],
  reasoning: ['llm.token_count.completion_details.reasoning'],
  total: ['llm.token_count.total'],
}

/** Attributes of the spans of the AI SDK. */
export const aiSdkAttributes: Shape = {
  input: ['ai.usage.input_tokens', 'ai.usage.prompt_tokens'],
  cacheRead: ['ai.usage.cached_input_tokens', 'ai.usage.input_token_details.cache_read_tokens'],
  cacheWrite: ['ai.usage.input_token_details.cache_write_tokens'],
  output: ['ai.usage.output_tokens', 'ai.usage.completion_tokens'],
  reasoning: ['ai.usage.reasoning_tokens', 'ai.usage.output_token_details.reasoning_tokens'],
  total: ['ai.usage.total_tokens'],
}

function attributes(...names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [`gen_ai.usage.${name}`, `llm.usage.${name}`])
}
