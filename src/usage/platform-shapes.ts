import { membersOf } from '../model/json.ts'
import { all, at, type ReadCount, type ReadShape, readCount, reader, synonyms } from './shape.ts'

/**
 * Cohere bills other counts than it processes: with `billed_units`, those are read, because prices are per billed token. The cache
 * is a part of what was processed.
 */
export const cohereBilled: ReadShape = reader({
  input: synonyms(at('billed_units', 'input_tokens'), at('billedUnits', 'inputTokens')),
  output: synonyms(at('billed_units', 'output_tokens'), at('billedUnits', 'outputTokens')),
  apart: [
    ...[at('tokens', 'input_tokens'), at('tokens', 'inputTokens'), at('cached_tokens'), at('cachedTokens')],
    ...[at('tokens', 'output_tokens'), at('tokens', 'outputTokens')],
  ],
})

/** {@link cohereBilled} without `billed_units`. */
export const cohereProcessed: ReadShape = reader({
  input: synonyms(at('tokens', 'input_tokens'), at('tokens', 'inputTokens')),
  cacheRead: synonyms(at('cached_tokens'), at('cachedTokens')),
  output: synonyms(at('tokens', 'output_tokens'), at('tokens', 'outputTokens')),
})

/** Ollama's `/api/chat` and `/api/generate`, and its JavaScript library. */
export const ollama: ReadShape = reader({
  input: synonyms(at('prompt_eval_count'), at('promptEvalCount')),
  output: synonyms(at('eval_count'), at('evalCount')),
})

/** Bodies of Amazon Titan in Bedrock's InvokeModel: one result, or several whose counts are added. */
export const titan: ReadShape = reader({
  input: at('inputTextTokenCount'),
  output: synonyms(at('totalOutputTextTokenCount'), ofResults('tokenCount')),
})

/** Bodies of Llama in Bedrock's InvokeModel. */
export const bedrockLlama: ReadShape = reader({
  input: at('prompt_token_count'),
  output: at('generation_token_count'),
})

/** Text generation of watsonx.ai: one result, or the answer with its `results`. */
export const watsonx: ReadShape = reader({
  input: synonyms(at('input_token_count'), ofResults('input_token_count')),
  output: synonyms(at('generated_token_count'), ofResults('generated_token_count')),
})

/** `details` of Hugging Face's Text Generation Inference: the prompt as its length, or as a list of its tokens. */
export const textGeneration: ReadShape = reader({
  input: synonyms(at('input_length'), ({ usage: { prefill } }) =>
    Array.isArray(prefill) ? prefill.length || undefined : undefined,
  ),
  output: at('generated_tokens'),
})

/** `usage` and `usageDetails` of Langfuse. The parts of the input are beside it. */
export const langfuse: ReadShape = reader({
  input: at('input'),
  cacheRead: synonyms(at('input_cached_tokens'), at('input_cache_read'), at('cache_read_input_tokens')),
  cacheWrite: synonyms(at('input_cache_creation'), at('cache_creation_input_tokens')),
  cache: 'beside',
  output: at('output'),
  reasoning: synonyms(at('output_reasoning_tokens'), at('output_reasoning')),
  thinking: 'beside',
  total: at('total'),
})

/**
 * Attributes of OpenTelemetry's GenAI spans, in the spellings of the conventions and of the instrumentations that differ from them
 * (lists of names in use: langfuse#13571, langfuse#14902, mastra#15966, rig#1666): inclusive counts.
 */
export const genAiAttributes: ReadShape = reader({
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
})

function attributes(...names: readonly string[]): ReadCount {
  return synonyms(...names.map((name) => at(`gen_ai.usage.${name}`)))
}

/** The sum of one count over the items of `results`. */
function ofResults(key: string): ReadCount {
  return (reading) => {
    const { results } = reading.usage
    if (!Array.isArray(results)) return undefined
    const counts = results.map(
      (result, index): ReadCount =>
        () =>
          readCount(membersOf(result)?.[key], reading, ['results', String(index), key]),
    )
    return all(...counts)(reading)
  }
}
