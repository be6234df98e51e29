import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isWhole, readWholeCount, type UsageCount } from './counts.ts'

export type Usage = Readonly<Record<string, unknown>>

/** Reads a usage object of one shape. Sums are not range-checked yet. */
export type ReadShape = (usage: Usage, faults: ReadFault[]) => { readonly [count in UsageCount]?: number | undefined }

/** Reads one count of a usage object. `undefined`: absent, or invalid, which adds a fault. */
export type ReadCount = (usage: Usage, faults: ReadFault[]) => number | undefined

/** Names of the counts in one shape, and which counts include which. */
interface Shape {
  readonly input: ReadCount
  /** Input that `input` never includes. */
  readonly toolUse?: ReadCount
  readonly cacheRead?: ReadCount
  readonly cacheWrite?: ReadCount
  /** `within` (default): `input` includes the cache. `beside`: it does not. */
  readonly cache?: 'within' | 'beside'
  readonly output: ReadCount
  readonly reasoning?: ReadCount
  /** `within` (default): `output` usually includes reasoning. `beside`: it does not. */
  readonly thinking?: 'within' | 'beside'
  readonly total?: ReadCount
}

/** Makes the reader of a shape. */
export function reader(shape: Shape): ReadShape {
  const { input, toolUse, cacheRead, cacheWrite, cache, output, reasoning, thinking, total } = shape
  return (usage, faults) => {
    const cacheReadTokens = cacheRead?.(usage, faults)
    const cacheWriteTokens = cacheWrite?.(usage, faults)
    // The parts alone are not the whole input.
    const part = cache === 'beside' ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0
    const inputTokens = sumIfKnown(input(usage, faults), part + (toolUse?.(usage, faults) ?? 0))
    const reasoningTokens = reasoning?.(usage, faults)
    const totalTokens = total?.(usage, faults)
    const outputTokens = withReasoning(thinking, inputTokens, output(usage, faults), reasoningTokens, totalTokens)
    return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, totalTokens }
  }
}

/**
 * Returns the output with reasoning. A total that fits only one of the two ways decides, because servers differ: xAI leaves
 * reasoning out of OpenAI's `completion_tokens`, and some of Gemini's servers include it in `candidatesTokenCount`.
 */
function withReasoning(
  usually: 'within' | 'beside' = 'within',
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

function sumIfKnown(a: number | undefined, b: number): number | undefined {
  return a === undefined ? undefined : a + b
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0)
}

/** Reads `key`, or `inner` of the object at `key`. */
export function at(key: string, inner?: string): ReadCount {
  return (usage, faults) => countAt(usage, faults, key, inner)
}

/** As {@link at}; details may also be a list, one item for each model call, whose counts are added. */
export function atEach(key: string, inner: string): ReadCount {
  return (usage, faults) => {
    const details = usage[key]
    if (!Array.isArray(details)) return countAt(usage, faults, key, inner)
    return details.reduce((all: number | undefined, part: unknown, index) => {
      const count = readCount(membersOf(part)?.[inner], faults, () => [key, String(index), inner])
      return sum(all, count)
    }, undefined)
  }
}

export function countOrTotal(key: string): ReadCount {
  return (usage, faults) => countAt(usage, faults, key, membersOf(usage[key]) ? 'total' : undefined)
}

export function first(...reads: readonly ReadCount[]): ReadCount {
  return (usage, faults) => {
    for (const read of reads) {
      const count = read(usage, faults)
      if (count !== undefined) return count
    }
    return undefined
  }
}

/** The sum of those counts that are there. */
export function all(...reads: readonly ReadCount[]): ReadCount {
  return (usage, faults) =>
    reads.reduce<number | undefined>((before, read) => sum(before, read(usage, faults)), undefined)
}

function countAt(usage: Usage, faults: ReadFault[], key: string, inner?: string): number | undefined {
  if (inner === undefined) return readCount(usage[key], faults, () => [key])
  return readCount(membersOf(usage[key])?.[inner], faults, () => [key, inner])
}

export function readCount(value: unknown, faults: ReadFault[], path: () => readonly string[]): number | undefined {
  if (value === undefined || value === null) return undefined
  if (isWhole(value, 0)) return value + 0
  readWholeCount(value, 0, faults, path())
  return undefined
}
