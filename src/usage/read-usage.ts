import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isEmpty } from '../model/totals.ts'
import { USAGE_COUNTS, type UsageCount } from './counts.ts'
import { usageParts } from './parts.ts'
import {
  bedrockLlama,
  cohereBilled,
  cohereProcessed,
  genAiAttributes,
  langfuse,
  ollama,
  textGeneration,
  titan,
  watsonx,
} from './platform-shapes.ts'
import {
  anthropic,
  bedrock,
  camelCaseChat,
  GEMINI_INTERACTIONS_KEYS,
  GEMINI_KEYS,
  GEMINI_SNAKE_CASE_KEYS,
  gemini,
  openAIChat,
  openAIResponses,
  totalsAndParts,
} from './provider-shapes.ts'
import { nameOf, type Path, type Reading, type ReadShape, readingOf, type Usage } from './shape.ts'
import { usageTier } from './tier.ts'
import { unreadMembers } from './unread.ts'

/** Why the counts of a usage object may be wrong. A run with such counts has no cost. */
export interface UsageDoubt {
  /** `usage_conflict`: two members give different positive counts of one quantity. `usage_unread`: a count that no reader knows. */
  readonly code: 'usage_conflict' | 'usage_unread'
  /** The member, from the usage object. */
  readonly path: Path
}

/** Inclusive counts of a usage object (input includes the cache, output includes reasoning), and its service tier. */
export interface ReadUsage {
  readonly counts: Partial<Record<UsageCount, number>>
  readonly serviceTier?: string
  /** At most 8. */
  readonly doubts: readonly UsageDoubt[]
}

const NO_DOUBTS: readonly UsageDoubt[] = Object.freeze([])
const MAX_DOUBTS = 8

export const UNKNOWN_USAGE: ReadUsage = Object.freeze({ counts: {}, doubts: NO_DOUBTS })

/**
 * Reads a provider's usage object. Absent and `null` counts stay unknown. `undefined`: nothing is understood of what is in it, and
 * nothing seems to count tokens. Does not guess: only a total may decide whether output includes reasoning, and what may be wrong is in
 * `doubts`.
 *
 * @param faults Receives invalid counts, and sums above 2^53 - 1.
 */
export function readUsage(usage: unknown, faults: ReadFault[]): ReadUsage | undefined {
  const members = membersOf(usage)
  if (!members) return undefined
  const shapes = shapesOf(members)
  if (shapes.length === 0 && membersOf(members.x_groq)) return readGroq(members, faults)
  const { reading, read } = bestOf(shapes, members)
  const reported = { ...read, ...usageParts(reading) }
  const counts: Partial<Record<UsageCount, number>> = {}
  for (const key of USAGE_COUNTS) {
    const count = reported[key]
    if (count === undefined) continue
    if (count <= Number.MAX_SAFE_INTEGER) counts[key] = count
    else reading.faults.push({ code: 'out_of_range', detail: `adds up to more than 2^53 - 1 as ${key}` })
  }
  faults.push(...reading.faults)
  const doubts = doubtsOf(reading, reported, shapes)
  const isUnderstood = !isEmpty(counts) || doubts.length > 0 || reading.faults.length > 0
  if (!isUnderstood && (shapes.length === 0 ? holdsSomething(members) : holdsNumber(members))) return undefined
  const serviceTier = usageTier(members)
  return serviceTier === undefined ? { counts, doubts } : { counts, serviceTier, doubts }
}

const GROQ: Path = ['x_groq', 'usage']

/** The last event of a stream of Groq holds its usage in a member of its own. */
function readGroq({ x_groq }: Usage, faults: ReadFault[]): ReadUsage | undefined {
  const found: ReadFault[] = []
  const read = readUsage(membersOf(x_groq)?.usage, found)
  for (const { path = [], ...fault } of found) faults.push({ ...fault, path: [...GROQ, ...path] })
  return read && { ...read, doubts: read.doubts.map(({ code, path }) => ({ code, path: [...GROQ, ...path] })) }
}

function holdsSomething(members: Usage): boolean {
  return Object.values(members).some((value) => value !== undefined && value !== null)
}

function holdsNumber(value: unknown): boolean {
  if (typeof value === 'number') return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber)
}

interface Shaped {
  readonly reading: Reading
  readonly read: ReturnType<ReadShape>
}

/** Reads by the first shape that finds input or output; if none does, by the first. */
function bestOf(shapes: readonly ReadShape[], usage: Usage): Shaped {
  let first: Shaped | undefined
  for (const shape of shapes) {
    const reading = readingOf(usage)
    const read = shape(reading)
    first ??= { reading, read }
    if (read.inputTokens !== undefined || read.outputTokens !== undefined) return { reading, read }
  }
  return first ?? { reading: readingOf(usage), read: {} }
}

function doubtsOf(
  reading: Reading,
  reported: ReturnType<ReadShape>,
  shapes: readonly ReadShape[],
): readonly UsageDoubt[] {
  const { usage, conflicts } = reading
  const unread = unreadMembers(reading)
  if (conflicts.length === 0 && unread.length === 0) return NO_DOUBTS
  const repeated = repeatedMembers(usage, reported, shapes)
  return [
    ...conflicts.map((path): UsageDoubt => ({ code: 'usage_conflict', path })),
    ...unread.filter((path) => !repeated.has(nameOf(path))).map((path): UsageDoubt => ({ code: 'usage_unread', path })),
  ].slice(0, MAX_DOUBTS)
}

/** Members that repeat the counts under the names of another shape: gateways send both. */
function repeatedMembers(
  usage: Usage,
  reported: ReturnType<ReadShape>,
  shapes: readonly ReadShape[],
): ReadonlySet<string> {
  const repeated = new Set<string>()
  for (const shape of shapes) {
    const reading = readingOf(usage)
    const agrees = Object.entries(shape(reading)).every(
      ([name, count]) => count === undefined || count === 0 || count === reported[name as UsageCount],
    )
    if (agrees && reading.conflicts.length === 0) for (const name of reading.seen.keys()) repeated.add(name)
  }
  return repeated
}

const EMPTY_USAGE: ReadShape = () => ({})

/** The first shape with a matching key wins, so the specific ones are first. A repeated key identifies the last of its shapes. */
export const SHAPES: readonly (readonly [ReadShape, ...(readonly string[])])[] = [
  [cohereBilled, 'billed_units', 'billedUnits'],
  [bedrockLlama, 'generation_token_count'],
  [gemini(GEMINI_KEYS), ...GEMINI_KEYS],
  [gemini(GEMINI_SNAKE_CASE_KEYS), ...GEMINI_SNAKE_CASE_KEYS],
  [gemini(GEMINI_INTERACTIONS_KEYS), ...GEMINI_INTERACTIONS_KEYS],
  // Gateways add Anthropic's cache keys to OpenAI's chat usage, whose prompt includes the cache.
  [openAIChat, 'prompt_tokens', 'completion_tokens', 'prompt_tokens_details', 'completion_tokens_details'],
  // Anthropic has no input details: an input with details includes the cache, whatever the other keys are.
  [openAIResponses, 'input_tokens_details', 'input_token_details', 'cached_input_tokens', 'reasoning_output_tokens'],
  [anthropic, 'cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'],
  // Anthropic without a cache has the same keys and meaning.
  [openAIResponses, 'input_tokens', 'output_tokens', 'output_tokens_details', 'output_token_details', 'total_tokens'],
  // In camel case, Codex shares the name of a cache write with Bedrock, and includes it.
  [totalsAndParts, 'cachedInputTokens', 'reasoningOutputTokens', 'inputTokensDetails', 'outputTokensDetails'],
  [bedrock, 'inputTokenCount', 'outputTokenCount'],
  [bedrock, 'cacheReadInputTokens', 'cacheWriteInputTokens', 'cacheCreationInputTokens'],
  [bedrock, 'cacheReadInputTokenCount', 'cacheWriteInputTokenCount'],
  // Bedrock without a cache has the same keys and meaning.
  [totalsAndParts, 'inputTokens', 'outputTokens', 'inputTokenDetails', 'outputTokenDetails'],
  [totalsAndParts, 'cacheReadTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'reasoningTokens'],
  [totalsAndParts, 'audioInputTokens', 'imageInputTokens', 'audioOutputTokens', 'imageOutputTokens'],
  [camelCaseChat, 'promptTokens', 'completionTokens', 'totalTokens'],
  [genAiAttributes, 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  [genAiAttributes, 'gen_ai.usage.prompt_tokens', 'gen_ai.usage.completion_tokens'],
  [ollama, 'prompt_eval_count', 'eval_count', 'promptEvalCount', 'evalCount'],
  [titan, 'inputTextTokenCount', 'totalOutputTextTokenCount'],
  [watsonx, 'input_token_count', 'generated_token_count', 'results'],
  [textGeneration, 'generated_tokens', 'input_length'],
  [langfuse, 'input', 'output'],
  [cohereProcessed, 'tokens', 'cached_tokens', 'cachedTokens'],
  // Counts of `usageParts` alone.
  [EMPTY_USAGE, 'seconds', 'characters'],
]

const RANK_OF_KEY: ReadonlyMap<string, number> = new Map(
  SHAPES.flatMap(([, ...keys], rank) => keys.map((key): [string, number] => [key, rank])),
)

/** The shapes that a member identifies, in their order. */
function shapesOf(usage: Usage): readonly ReadShape[] {
  const ranks = new Set<number>()
  for (const key in usage) {
    const rank = usage[key] === undefined || usage[key] === null ? undefined : RANK_OF_KEY.get(key)
    if (rank !== undefined) ranks.add(rank)
  }
  return [...ranks].sort((one, other) => one - other).map((rank) => SHAPES[rank]?.[0] ?? EMPTY_USAGE)
}
