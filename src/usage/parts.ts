import { membersOf } from '../model/json.ts'
import type { UsageCount } from './counts.ts'
import { membersIn } from './members.ts'
import type { ShapeCounts } from './shape.ts'
import { type Reading, readerOf, readingOf, type Spelling, termsOf } from './spelling.ts'

/** Details of the input. Those of one line are added. */
const INPUT = [
  'prompt_tokens_details+tool_use_prompt_tokens_details',
  'input_tokens_by_modality+tool_use_tokens_by_modality',
  'input_tokens_details',
  'input_token_details',
]
/** Details of the output. */
const OUTPUT = [
  'completion_tokens_details',
  'candidates_tokens_details',
  'response_tokens_details',
  'output_tokens_by_modality',
  'output_tokens_details',
  'output_token_details',
]
const LONG_LIVED = 'ephemeral_1h_input_tokens'

const PARTS: Partial<Record<UsageCount, readonly Spelling[]>> = {
  cacheWrite1hTokens: [
    `cache_creation/${LONG_LIVED}`,
    `input_token_details/${LONG_LIVED}`,
    `prompt_tokens_details/cache_creation/${LONG_LIVED}`,
    `prompt_tokens_details/cache_creation_token_details/${LONG_LIVED}`,
    'cache_details/1h_tokens',
    'cache_creation_ephemeral_1h_input_tokens',
    'cache_write_1h_tokens',
  ],
  audioInputTokens: [...ofKinds(INPUT, 'audio'), ...ofAttributes('input', 'audio'), 'audio_input_tokens'],
  // Pages of a document are read as images.
  imageInputTokens: [
    ...ofKinds(INPUT, 'image', 'document'),
    ...ofAttributes('input', 'image'),
    ...['image_input_tokens', 'prompt_image_tokens', 'image_tokens'],
  ],
  audioOutputTokens: [...ofKinds(OUTPUT, 'audio'), ...ofAttributes('output', 'audio'), 'audio_output_tokens'],
  imageOutputTokens: [
    ...ofKinds(OUTPUT, 'image', 'document'),
    ...ofAttributes('output', 'image'),
    ...['image_output_tokens', 'native_tokens_completion_images'],
  ],
  // Anthropic, Perplexity, xAI, OpenRouter and Cohere bill searches, OpenAI and Mistral seconds of a transcription.
  billedSearches: [
    'server_tool_use/web_search_requests+web_search_requests+num_search_queries+num_sources_used+billed_units/search_units',
    'server_tool_use_details/web_search_requests',
    'server_side_tool_usage_details/web_search_calls+server_side_tool_usage_details/x_search_calls',
  ],
  billedSeconds: ['seconds+prompt_audio_seconds'],
  billedCharacters: ['characters'],
}

const READERS = Object.entries(PARTS).map(([name, spellings]) => [name as UsageCount, readerOf(spellings)] as const)

/** Places of a usage object where these parts have a count, in camel case. */
export const PART_PLACES: readonly string[] = Object.values(PARTS).flat().flatMap(termsOf)

/**
 * Reads the counts that have the same names in every shape: parts of the totals, and units that are billed instead of tokens.
 *
 * @param raw The provider's own object in that of the AI SDK, which has some of them there alone. Its faults do not count.
 */
export function usageParts(reading: Reading, raw: unknown): ShapeCounts {
  const members = membersOf(raw)
  const ofRaw = members && readingOf(membersIn(members))
  const counts: { [count in UsageCount]?: number | undefined } = {}
  for (const [name, read] of READERS) {
    const count = read(reading) ?? (ofRaw && read(ofRaw))
    if (count !== undefined) counts[name] = count
  }
  return counts
}

/** The tokens of some kinds in all details; LangChain names them by the kind alone. */
function ofKinds(details: readonly string[], ...kinds: readonly string[]): readonly Spelling[] {
  const all = (line: string, suffix: string): string =>
    line
      .split('+')
      .flatMap((one) => kinds.map((kind) => `${one}/${kind}${suffix}`))
      .join('+')
  return details.flatMap((line) =>
    line.endsWith('token_details') ? [all(line, '_tokens'), all(line, '')] : all(line, '_tokens'),
  )
}

/** The tokens of one kind as attributes of spans, and as pydantic-ai and Langfuse write them. */
function ofAttributes(side: 'input' | 'output', kind: string): readonly Spelling[] {
  const openInference = side === 'input' ? 'prompt' : 'completion'
  return [
    `${side}_${kind}_tokens`,
    `gen_ai.usage.${kind}.${side}_tokens`,
    `gen_ai.usage.details.${side}_${kind}_tokens`,
    `llm.token_count.${openInference}_details.${kind}`,
  ]
}
