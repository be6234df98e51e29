import { countAt, inputWith, type ReadShape, withReasoning } from './usage-count.ts'

/** What Gemini tells, under the names of one of its interfaces. */
interface Names {
  readonly prompt: string
  readonly cached: string
  readonly toolUse: string
  readonly candidates: string
  /** What the Live API calls `candidates`. */
  readonly response: string
  readonly thoughts: string
  readonly total: string
}

/** One of Gemini's interfaces: how to read its usage, and the keys that give it away. */
interface GeminiShape {
  readonly read: ReadShape
  readonly keys: readonly string[]
}

/** `usageMetadata` of the Gemini API, of Vertex and of the Live API. */
export const GEMINI: GeminiShape = gemini({
  prompt: 'promptTokenCount',
  cached: 'cachedContentTokenCount',
  toolUse: 'toolUsePromptTokenCount',
  candidates: 'candidatesTokenCount',
  response: 'responseTokenCount',
  thoughts: 'thoughtsTokenCount',
  total: 'totalTokenCount',
})

/** The same as the Python SDKs of Gemini and Vertex give it out. */
export const GEMINI_SNAKE_CASE: GeminiShape = gemini({
  prompt: 'prompt_token_count',
  cached: 'cached_content_token_count',
  toolUse: 'tool_use_prompt_token_count',
  candidates: 'candidates_token_count',
  response: 'response_token_count',
  thoughts: 'thoughts_token_count',
  total: 'total_token_count',
})

/** `usage` of the Interactions API. */
export const GEMINI_INTERACTIONS: GeminiShape = gemini({
  prompt: 'total_input_tokens',
  cached: 'total_cached_tokens',
  toolUse: 'total_tool_use_tokens',
  candidates: 'total_output_tokens',
  response: 'total_output_tokens',
  thoughts: 'total_thought_tokens',
  total: 'total_tokens',
})

/**
 * The prompt includes what was cached. What tools put into it and thoughts stand beside: the total "is the sum of
 * `prompt_token_count`, `candidates_token_count`, `tool_use_prompt_token_count`, and `thoughts_token_count`"
 * (`GenerateContentResponseUsageMetadata` in `@google/genai`).
 */
function gemini({ prompt, cached, toolUse, candidates, response, thoughts, total }: Names): GeminiShape {
  return {
    keys: [prompt, cached, toolUse, candidates, response, thoughts, total],
    read(usage, faults) {
      const inputTokens = inputWith(countAt(usage, faults, prompt), countAt(usage, faults, toolUse))
      const output = countAt(usage, faults, candidates) ?? countAt(usage, faults, response)
      const reasoningTokens = countAt(usage, faults, thoughts)
      const totalTokens = countAt(usage, faults, total)
      return {
        inputTokens,
        cacheReadTokens: countAt(usage, faults, cached),
        outputTokens: withReasoning('beside', inputTokens, output, reasoningTokens, totalTokens),
        reasoningTokens,
        totalTokens,
      }
    },
  }
}
