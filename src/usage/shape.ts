import type { UsageCount } from './counts.ts'
import { camelCase } from './members.ts'
import { type ReadCount, type Reading, readerOf, type Spelling, termsOf } from './spelling.ts'

/** Spellings of the parts of a shape. */
const PARTS = [
  'input',
  'toolUse',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'total',
  'apart',
  'unclear',
] as const

type Part = (typeof PARTS)[number]

/**
 * One interface of a provider: the names of its counts, and which counts include which. `toolUse` is input that `input` never includes,
 * `apart` are other quantities, which are not billed, and `unclear` parts of the input that another interface leaves out of it, so that
 * only a total tells.
 */
export interface Shape extends Partial<Readonly<Record<Part, readonly Spelling[]>>> {
  /** `within` (default): the input includes the cache. `beside`: it does not. */
  readonly cache?: 'within' | 'beside'
  /** `within` (default): the output usually includes reasoning. `beside`: it does not. */
  readonly thinking?: 'within' | 'beside'
  /** The shape has one of these members, in snake or camel case: another shape has the same names for the other counts. */
  readonly needs?: readonly string[]
  /** The shape has none of these members. */
  readonly lacks?: readonly string[]
}

/** Counts of one shape. Sums are not range-checked yet. */
export type ShapeCounts = { readonly [count in UsageCount]?: number | undefined }

/** A shape that is ready to read. */
export interface ShapeReader {
  /** Places of a usage object where the shape has a count, in camel case. */
  readonly places: readonly string[]
  read(reading: Reading): ShapeCounts
}

const NOTHING: ShapeCounts = Object.freeze({})

export function shapeReader(shape: Shape): ShapeReader {
  const { cache, thinking } = shape
  const [needs, lacks] = [shape.needs?.map(camelCase), shape.lacks?.map(camelCase)]
  const [inputOf, toolUseOf, cacheReadOf] = [of('input'), of('toolUse'), of('cacheRead')]
  const [cacheWriteOf, outputOf, reasoningOf] = [of('cacheWrite'), of('output'), of('reasoning')]
  const [totalOf, apartOf, unclearOf] = [of('total'), of('apart'), of('unclear')]
  return {
    places: PARTS.flatMap((part) => shape[part] ?? []).flatMap(termsOf),
    read(reading) {
      const has = (name: string): boolean => reading.members.names.has(name)
      if ((needs && !needs.some(has)) || lacks?.some(has)) return NOTHING
      const cacheReadTokens = cacheReadOf(reading)
      const cacheWriteTokens = cacheWriteOf(reading)
      const cached = (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0)
      const input = inputOf(reading)
      const beside = (toolUseOf(reading) ?? 0) + (cache === 'beside' ? cached : 0)
      // The parts alone are not the whole input.
      const whole = input === undefined ? undefined : input + beside
      const reasoningTokens = reasoningOf(reading)
      const totalTokens = totalOf(reading)
      const total = totalTokens ? reading.last : undefined
      const isUnclear = cached > 0 && (!total || cached === reasoningTokens) && unclearOf(reading) !== undefined
      if (isUnclear && reading.last) reading.conflicts.push(reading.last)
      apartOf(reading)
      const outputTokens = withReasoning(thinking, whole, outputOf(reading), reasoningTokens, totalTokens)
      const inputTokens = cache === 'beside' ? whole : withCache(whole, cached, outputTokens, totalTokens)
      const excess = Number(inputTokens) + Number(outputTokens) - Number(totalTokens)
      // Some totals leave out the cache: seen if it must be a part of the input, or cannot be one.
      const isCache = excess === cached && (cache === 'beside' ? cached > Number(input) : cached <= Number(input))
      // `NaN` without input or output. Tokens that only a total has are billed too, such as thoughts that a gateway has dropped.
      if (total && excess && !isCache) reading.conflicts.push(total)
      return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, totalTokens }
    },
  }

  function of(part: Part): ReadCount {
    return readerOf(shape[part] ?? [])
  }
}

/** Returns the input with the cache. Some gateways leave it out of OpenAI's `prompt_tokens`: the total tells. */
function withCache(
  input: number | undefined,
  cached: number,
  output: number | undefined,
  total: number | undefined,
): number | undefined {
  if (input === undefined || output === undefined) return input
  return total === input + cached + output ? input + cached : input
}

/**
 * Returns the output with reasoning. A total that fits only one of the two ways decides, because servers differ: xAI leaves
 * reasoning out of OpenAI's `completion_tokens`, and some of Gemini's servers include it in `candidatesTokenCount`.
 */
function withReasoning(
  usually: Shape['thinking'],
  input: number | undefined,
  output: number | undefined,
  reasoning: number | undefined,
  total: number | undefined,
): number | undefined {
  if (output === undefined) return usually === 'beside' ? reasoning : undefined
  if (reasoning === undefined) return output
  if (input !== undefined && total === input + output && reasoning <= output) return output
  if (input !== undefined && total === input + output + reasoning) return output + reasoning
  return usually === 'beside' ? output + reasoning : output
}
