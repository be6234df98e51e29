import { membersOf } from '../model/json.ts'
import { all, at, type ReadCount, type Reading, type ReadShape, readCount, readingOf, synonyms } from './shape.ts'

/**
 * Details of the input and of the output: of OpenAI an object, `{ audio_tokens: 5 }`, of LangChain `{ audio: 5 }`, of Gemini a list,
 * `[{ modality: 'AUDIO', tokenCount: 5 }]`. Those of one line are added, and the first line with a count is read.
 */
const INPUT = [
  ['prompt_tokens_details', 'tool_use_prompt_tokens_details'],
  ['promptTokensDetails', 'toolUsePromptTokensDetails'],
  ['input_tokens_by_modality', 'tool_use_tokens_by_modality'],
  ['input_tokens_details'],
  ['input_token_details'],
  ['inputTokensDetails'],
]
const OUTPUT = [
  ['completion_tokens_details'],
  ['completionTokensDetails'],
  ['candidates_tokens_details'],
  ['candidatesTokensDetails'],
  ['response_tokens_details'],
  ['responseTokensDetails'],
  ['output_tokens_by_modality'],
  ['output_tokens_details'],
  ['output_token_details'],
  ['outputTokensDetails'],
]
const AUDIO = ['audio']
/** Pages of a document are read as images. */
const IMAGE = ['image', 'document']
const LONG_LIVED = 'ephemeral_1h_input_tokens'

const PARTS = {
  cacheWrite1hTokens: synonyms(
    at('cache_creation', LONG_LIVED),
    at('input_token_details', LONG_LIVED),
    inDetails('cacheDetails', ['1h']),
    at('cacheCreationEphemeral1hInputTokens'),
    at('cacheWrite1hTokens'),
  ),
  audioInputTokens: ofKind(AUDIO, INPUT, 'audioInputTokens'),
  imageInputTokens: ofKind(IMAGE, INPUT, 'imageInputTokens'),
  audioOutputTokens: ofKind(AUDIO, OUTPUT, 'audioOutputTokens'),
  imageOutputTokens: ofKind(IMAGE, OUTPUT, 'imageOutputTokens'),
  // Anthropic, Perplexity, xAI and Cohere bill searches, OpenAI and Mistral seconds of a transcription.
  billedSearches: all(
    at('server_tool_use', 'web_search_requests'),
    at('webSearchRequests'),
    at('num_search_queries'),
    at('num_sources_used'),
    at('billed_units', 'search_units'),
  ),
  billedSeconds: all(wholeSeconds, at('prompt_audio_seconds')),
  billedCharacters: at('characters'),
} satisfies Record<string, ReadCount>

/**
 * Reads the counts that have the same names in every shape: parts of the totals, and units that are billed instead of tokens. The AI
 * SDK leaves them only in the provider's own object, `raw`, whose faults do not count.
 */
export const usageParts: ReadShape = (reading) => {
  const raw = membersOf(reading.usage.raw)
  const ofRaw = raw && readingOf(raw)
  const parts = Object.entries(PARTS).map(([name, read]) => [name, read(reading) ?? (ofRaw && read(ofRaw))])
  return Object.fromEntries(parts)
}

function ofKind(kinds: readonly string[], lines: readonly (readonly string[])[], own: string): ReadCount {
  return synonyms(...lines.map((line) => all(...line.map((key) => inDetails(key, kinds)))), at(own))
}

/** Adds the counts of some kinds in the details at `key`. */
function inDetails(key: string, kinds: readonly string[]): ReadCount {
  const [kind = ''] = kinds
  return (reading) => {
    const details = reading.usage[key]
    if (details === undefined) return undefined
    const isList = Array.isArray(details)
    const counts = (isList ? details : [details]).map((item: unknown, index): ReadCount => {
      const members = membersOf(item) ?? {}
      const { modality, ttl, tokenCount, token_count, tokens, inputTokens } = members
      const path = isList ? [key, String(index)] : [key]
      const given = modality ?? ttl
      if (given !== undefined) {
        const count =
          typeof given === 'string' && kinds.includes(given.toLowerCase())
            ? (tokenCount ?? token_count ?? tokens ?? inputTokens)
            : undefined
        return () => readCount(count, reading, path)
      }
      const name = [`${kind}_tokens`, `${kind}Tokens`, kind].find((each) => members[each] !== undefined) ?? kind
      return () => readCount(members[name], reading, [...path, name])
    })
    return all(...counts)(reading)
  }
}

function wholeSeconds(reading: Reading): number | undefined {
  const { seconds } = reading.usage
  return readCount(typeof seconds === 'number' ? Math.ceil(seconds) : seconds, reading, ['seconds'])
}
