import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import { isWhole, readWholeCount, type UsageCount } from './counts.ts'

export type Usage = Readonly<Record<string, unknown>>

/** The path of a member, from the usage object. */
export type Path = readonly string[]

/** One reading of a usage object. */
export interface Reading {
  readonly usage: Usage
  readonly faults: ReadFault[]
  /** Members with a positive count that were read, by {@link nameOf} their path. */
  readonly seen: Map<string, number>
  /** Members that name another positive count for a quantity than one read before. */
  readonly conflicts: Path[]
  /** The member that was read last. */
  last: Path
}

export function readingOf(usage: Usage): Reading {
  return { usage, faults: [], seen: new Map(), conflicts: [], last: [] }
}

export function nameOf(path: Path): string {
  return path.join('\n')
}

/** Reads the counts of one shape. Sums are not range-checked yet. */
export type ReadShape = (reading: Reading) => { readonly [count in UsageCount]?: number | undefined }

/** Reads one count of a usage object. `undefined`: absent, or invalid, which adds a fault. */
export type ReadCount = (reading: Reading) => number | undefined

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
  /** Counts of other quantities, which are not billed. */
  readonly apart?: readonly ReadCount[]
}

/** Makes the reader of a shape. */
export function reader(shape: Shape): ReadShape {
  const { input, toolUse, cacheRead, cacheWrite, cache, output, reasoning, thinking, total, apart = [] } = shape
  return (reading) => {
    const cacheReadTokens = cacheRead?.(reading)
    const cacheWriteTokens = cacheWrite?.(reading)
    // The parts alone are not the whole input.
    const part = cache === 'beside' ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0
    const inputTokens = sumIfKnown(input(reading), part + (toolUse?.(reading) ?? 0))
    const reasoningTokens = reasoning?.(reading)
    const totalTokens = total?.(reading)
    for (const read of apart) read(reading)
    const outputTokens = withReasoning(thinking, inputTokens, output(reading), reasoningTokens, totalTokens)
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
  const path = inner === undefined ? [key] : [key, inner]
  return inner === undefined
    ? (reading) => readCount(reading.usage[key], reading, path)
    : (reading) => readCount(membersOf(reading.usage[key])?.[inner], reading, path)
}

/** As {@link at}; details may also be a list, one item for each model call, whose counts are added. */
export function atEach(key: string, inner: string): ReadCount {
  const whole = at(key, inner)
  return (reading) => {
    const details = reading.usage[key]
    if (!Array.isArray(details)) return whole(reading)
    return details.reduce((all: number | undefined, part: unknown, index) => {
      return sum(all, readCount(membersOf(part)?.[inner], reading, [key, String(index), inner]))
    }, undefined)
  }
}

export function countOrTotal(key: string): ReadCount {
  const [count, total] = [at(key), at(key, 'total')]
  return (reading) => (membersOf(reading.usage[key]) ? total : count)(reading)
}

/**
 * Reads the spellings of one quantity: the greatest count holds, because gateways write a 0 under names that they do not use. Two
 * different positive counts are a conflict.
 */
export function synonyms(...spellings: readonly ReadCount[]): ReadCount {
  return (reading) => {
    let greatest: number | undefined
    for (const read of spellings) {
      const count = read(reading)
      if (count === undefined) continue
      if (greatest !== undefined && greatest > 0 && count > 0 && count !== greatest)
        reading.conflicts.push(reading.last)
      if (greatest === undefined || count > greatest) greatest = count
    }
    return greatest
  }
}

/** The sum of those counts that are there. */
export function all(...reads: readonly ReadCount[]): ReadCount {
  return (reading) => reads.reduce<number | undefined>((before, read) => sum(before, read(reading)), undefined)
}

/** @param path Not changed. */
export function readCount(value: unknown, reading: Reading, path: Path): number | undefined {
  if (value === undefined || value === null) return undefined
  reading.last = path
  if (isWhole(value, 0)) {
    if (value > 0) reading.seen.set(nameOf(path), value)
    return value + 0
  }
  readWholeCount(value, 0, reading.faults, path)
  return undefined
}
