import { membersOf } from '../model/json.ts'
import { all, at, first, type ReadCount, type ReadShape, reader } from './shape.ts'

/**
 * Cohere bills other counts than it processes: with `billed_units`, those are read, because prices are per billed token. The cache
 * is a part of what was processed.
 */
export const cohereBilled: ReadShape = reader({
  input: first(at('billed_units', 'input_tokens'), at('billedUnits', 'inputTokens')),
  output: first(at('billed_units', 'output_tokens'), at('billedUnits', 'outputTokens')),
})

/** {@link cohereBilled} without `billed_units`. */
export const cohereProcessed: ReadShape = reader({
  input: first(at('tokens', 'input_tokens'), at('tokens', 'inputTokens')),
  cacheRead: first(at('cached_tokens'), at('cachedTokens')),
  output: first(at('tokens', 'output_tokens'), at('tokens', 'outputTokens')),
})

/** Ollama's `/api/chat` and `/api/generate`, and its JavaScript library. */
export const ollama: ReadShape = reader({
  input: first(at('prompt_eval_count'), at('promptEvalCount')),
  output: first(at('eval_count'), at('evalCount')),
})

/** Bodies of Amazon Titan in Bedrock's InvokeModel: one result, or several whose counts are added. */
export const titan: ReadShape = reader({
  input: at('inputTextTokenCount'),
  output: first(at('totalOutputTextTokenCount'), ofResults('tokenCount')),
})

/** Bodies of Llama in Bedrock's InvokeModel. */
export const bedrockLlama: ReadShape = reader({
  input: at('prompt_token_count'),
  output: at('generation_token_count'),
})

/** Text generation of watsonx.ai: one result, or the answer with its `results`. */
export const watsonx: ReadShape = reader({
  input: first(at('input_token_count'), ofResults('input_token_count')),
  output: first(at('generated_token_count'), ofResults('generated_token_count')),
})

/** `details` of Hugging Face's Text Generation Inference: the prompt as its length, or as a list of its tokens. */
export const textGeneration: ReadShape = reader({
  input: first(at('input_length'), (usage) =>
    Array.isArray(usage.prefill) ? usage.prefill.length || undefined : undefined,
  ),
  output: at('generated_tokens'),
})

/** `usage` and `usageDetails` of Langfuse. The parts of the input are beside it. */
export const langfuse: ReadShape = reader({
  input: at('input'),
  cacheRead: first(at('input_cached_tokens'), at('input_cache_read'), at('cache_read_input_tokens')),
  cacheWrite: first(at('input_cache_creation'), at('cache_creation_input_tokens')),
  cache: 'beside',
  output: at('output'),
  reasoning: first(at('output_reasoning_tokens'), at('output_reasoning')),
  thinking: 'beside',
  total: at('total'),
})

/** Attributes of OpenTelemetry's GenAI spans, also under their names before 1.27: inclusive counts. */
export const genAiAttributes: ReadShape = reader({
  input: first(at('gen_ai.usage.input_tokens'), at('gen_ai.usage.prompt_tokens')),
  cacheRead: at('gen_ai.usage.cache_read.input_tokens'),
  cacheWrite: at('gen_ai.usage.cache_creation.input_tokens'),
  output: first(at('gen_ai.usage.output_tokens'), at('gen_ai.usage.completion_tokens')),
  reasoning: at('gen_ai.usage.reasoning.output_tokens'),
})

/** The sum of one count over the items of `results`. */
function ofResults(key: string): ReadCount {
  return ({ results }, faults) => {
    if (!Array.isArray(results)) return undefined
    const counts = results.map(
      (result): ReadCount =>
        (_, found) =>
          at(key)(membersOf(result) ?? {}, found),
    )
    return all(...counts)({}, faults)
  }
}
