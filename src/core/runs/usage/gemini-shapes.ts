import { at, first, ofKind, type ReadShape, reader } from './usage-shape.ts'

/** Number of counts in each list of keys; then come lists by modality. */
export const GEMINI_COUNTS = 7

/** Counts of `usageMetadata`, then its lists by modality: of the Gemini API, of Vertex and of the Live API, which writes `responseTokenCount`. */
export const GEMINI_KEYS = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'responseTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
  'promptTokensDetails',
  'toolUsePromptTokensDetails',
  'candidatesTokensDetails',
  'responseTokensDetails',
] as const

/** As the Python SDKs of Gemini and Vertex write it. */
export const GEMINI_SNAKE_CASE_KEYS = [
  'prompt_token_count',
  'cached_content_token_count',
  'tool_use_prompt_token_count',
  'candidates_token_count',
  'response_token_count',
  'thoughts_token_count',
  'total_token_count',
  'prompt_tokens_details',
  'tool_use_prompt_tokens_details',
  'candidates_tokens_details',
  'response_tokens_details',
] as const

/** `usage` of the Interactions API. */
export const GEMINI_INTERACTIONS_KEYS = [
  'total_input_tokens',
  'total_cached_tokens',
  'total_tool_use_tokens',
  'total_output_tokens',
  'total_output_tokens',
  'total_thought_tokens',
  'total_tokens',
  'input_tokens_by_modality',
  'tool_use_tokens_by_modality',
  'output_tokens_by_modality',
  'output_tokens_by_modality',
] as const

const AUDIO = ['audio']
/** Pages of a document are read as images. */
const IMAGE = ['image', 'document']

/**
 * Gemini under the names of one of its interfaces. The prompt includes the cache. Tool use and thoughts are extra: the total "is
 * the sum of `prompt_token_count`, `candidates_token_count`, `tool_use_prompt_token_count`, and `thoughts_token_count`"
 * (`GenerateContentResponseUsageMetadata` in `@google/genai`).
 */
export function gemini(
  keys: typeof GEMINI_KEYS | typeof GEMINI_SNAKE_CASE_KEYS | typeof GEMINI_INTERACTIONS_KEYS,
): ReadShape {
  const [prompt, cached, toolUse, candidates, response, thoughts, total, ...details] = keys
  const [ofPrompt, ofToolUse, ofCandidates, ofResponse] = details
  return reader({
    input: at(prompt),
    toolUse: at(toolUse),
    cacheRead: at(cached),
    audioInput: ofKind(AUDIO, ofPrompt, ofToolUse),
    imageInput: ofKind(IMAGE, ofPrompt, ofToolUse),
    output: first(at(candidates), at(response)),
    reasoning: at(thoughts),
    thinking: 'beside',
    audioOutput: first(ofKind(AUDIO, ofCandidates), ofKind(AUDIO, ofResponse)),
    imageOutput: first(ofKind(IMAGE, ofCandidates), ofKind(IMAGE, ofResponse)),
    total: at(total),
  })
}
