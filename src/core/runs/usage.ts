import { type Fault, membersOf } from '../reading.ts'
import { TOKEN_COUNTS, type TokenCount } from './counts.ts'

/** Counts that a usage object told, inclusive: input with what the cache gave and took, output with reasoning. */
export type UsageCounts = Partial<Record<TokenCount, number>>

/** Reads one count of a usage object: the first of the paths that is there. */
type Read = (...paths: readonly string[]) => number | undefined

/**
 * Reads a provider's usage object as it came: OpenAI (chat and responses), Anthropic, Gemini, AI SDK. `undefined`: it is
 * none of these. What is absent or `null` stays unknown.
 */
export function readUsage(usage: unknown, faults: Fault[]): UsageCounts | undefined {
  const members = membersOf(usage)
  const shape = members && SHAPES.find(({ keys }) => keys.some((key) => isTold(members[key])))
  if (!members || !shape) return undefined
  const told = shape.counts((...paths) => {
    for (const path of paths) {
      const count = readCount(members, path, faults)
      if (count !== undefined) return count
    }
    return undefined
  })
  const counts: UsageCounts = {}
  for (const key of TOKEN_COUNTS) {
    const count = told[key]
    if (count !== undefined && count > Number.MAX_SAFE_INTEGER) {
      faults.push({ code: 'out_of_range', detail: `adds up to more than 2^53 - 1 as ${key}` })
    } else if (count !== undefined) counts[key] = count
  }
  return counts
}

/** A provider's way to tell its usage: by the keys that give it away, in the order in which they are looked for. */
interface Shape {
  readonly keys: readonly string[]
  counts(read: Read): { readonly [count in TokenCount]?: number | undefined }
}

const SHAPES: readonly Shape[] = [
  {
    // Gemini: candidates leave out thoughts, the prompt leaves out what tools put into it.
    keys: ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
    counts: (read) => ({
      inputTokens: sum(read('promptTokenCount'), read('toolUsePromptTokenCount')),
      cacheReadTokens: read('cachedContentTokenCount'),
      outputTokens: sum(read('candidatesTokenCount'), read('thoughtsTokenCount')),
      reasoningTokens: read('thoughtsTokenCount'),
      totalTokens: read('totalTokenCount'),
    }),
  },
  {
    // OpenAI chat completions, and the many that speak it.
    keys: ['prompt_tokens', 'completion_tokens'],
    counts: (read) => ({
      inputTokens: read('prompt_tokens'),
      cacheReadTokens: read('prompt_tokens_details.cached_tokens', 'cache_read_input_tokens'),
      cacheWriteTokens: read('prompt_tokens_details.cache_write_tokens', 'cache_creation_input_tokens'),
      outputTokens: read('completion_tokens'),
      reasoningTokens: read('completion_tokens_details.reasoning_tokens'),
      totalTokens: read('total_tokens'),
    }),
  },
  {
    // Anthropic: input leaves out the cache.
    keys: ['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'],
    counts: (read) => {
      const cacheRead = read('cache_read_input_tokens')
      const cacheWrite =
        read('cache_creation_input_tokens') ??
        sum(read('cache_creation.ephemeral_5m_input_tokens'), read('cache_creation.ephemeral_1h_input_tokens'))
      const uncached = read('input_tokens')
      return {
        inputTokens: uncached === undefined ? undefined : sum(uncached, cacheRead, cacheWrite),
        cacheReadTokens: cacheRead,
        cacheWriteTokens: cacheWrite,
        outputTokens: read('output_tokens'),
        reasoningTokens: read('output_tokens_details.thinking_tokens'),
      }
    },
  },
  {
    // OpenAI responses; Anthropic without a cache reads the same.
    keys: ['input_tokens', 'output_tokens'],
    counts: (read) => ({
      inputTokens: read('input_tokens'),
      cacheReadTokens: read('input_tokens_details.cached_tokens'),
      cacheWriteTokens: read('input_tokens_details.cache_write_tokens'),
      outputTokens: read('output_tokens'),
      reasoningTokens: read('output_tokens_details.reasoning_tokens', 'output_tokens_details.thinking_tokens'),
      totalTokens: read('total_tokens'),
    }),
  },
  {
    // AI SDK: with details since 6, flat in 5, under other names in 4.
    keys: ['inputTokens', 'outputTokens', 'promptTokens', 'completionTokens'],
    counts: (read) => ({
      inputTokens: read('inputTokens', 'promptTokens'),
      cacheReadTokens: read('inputTokenDetails.cacheReadTokens', 'cachedInputTokens'),
      cacheWriteTokens: read('inputTokenDetails.cacheWriteTokens'),
      outputTokens: read('outputTokens', 'completionTokens'),
      reasoningTokens: read('outputTokenDetails.reasoningTokens', 'reasoningTokens'),
      totalTokens: read('totalTokens'),
    }),
  },
]

function readCount(members: Readonly<Record<string, unknown>>, path: string, faults: Fault[]): number | undefined {
  const dot = path.indexOf('.')
  const value = dot < 0 ? members[path] : membersOf(members[path.slice(0, dot)])?.[path.slice(dot + 1)]
  if (!isTold(value)) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    faults.push({ code: 'type', detail: 'expected an integer', path: path.split('.') })
    return undefined
  }
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) {
    faults.push({ code: 'out_of_range', detail: 'expected 0 to 2^53 - 1', path: path.split('.') })
    return undefined
  }
  return value + 0
}

function isTold(value: unknown): boolean {
  return value !== undefined && value !== null
}

function sum(...counts: readonly (number | undefined)[]): number | undefined {
  let total: number | undefined
  for (const count of counts) if (count !== undefined) total = (total ?? 0) + count
  return total
}
