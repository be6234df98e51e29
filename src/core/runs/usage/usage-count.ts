import { membersOf, type ReadFault } from '../../json/schema-readers.ts'
import type { TokenCount } from '../merge/counts.ts'

/** A provider's usage object, as it came. */
export type Usage = Readonly<Record<string, unknown>>

/** Reads a usage object of one kind. Sums are not checked yet. */
export type ReadShape = (usage: Usage, faults: ReadFault[]) => { readonly [count in TokenCount]?: number | undefined }

/**
 * The count at `key`, or at `inner` of the object at `key`. `undefined`: it is not told, or what is told there is no count,
 * which is a fault. Where details should be and are not an object, nothing is told.
 */
export function countAt(usage: Usage, faults: ReadFault[], key: string, inner?: string): number | undefined {
  const value = inner === undefined ? usage[key] : membersOf(usage[key])?.[inner]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value)) {
    if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value + 0
    faults.push({ code: 'out_of_range', detail: 'expected 0 to 2^53 - 1', path: pathOf(key, inner) })
  } else faults.push({ code: 'type', detail: 'expected an integer', path: pathOf(key, inner) })
  return undefined
}

/** As {@link countAt}, of details that may be a list: a part for each call of a model, which are added up. */
export function countAmong(usage: Usage, faults: ReadFault[], key: string, inner: string): number | undefined {
  const details = usage[key]
  if (!Array.isArray(details)) return countAt(usage, faults, key, inner)
  return details.reduce((all: number | undefined, part: unknown, index) => {
    const ofPart: ReadFault[] = []
    const count = countAt(membersOf(part) ?? {}, ofPart, inner)
    for (const fault of ofPart) faults.push({ ...fault, path: [key, String(index), inner] })
    return sum(all, count)
  }, undefined)
}

/** The sum of what is known; `undefined` when nothing is. */
export function sum(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b
  return b === undefined ? a : a + b
}

/** Input with the parts that it leaves out. Unknown without the input itself: its parts are not all of it. */
export function inputWith(input: number | undefined, part = 0, another = 0): number | undefined {
  return input === undefined ? undefined : input + part + another
}

/**
 * Output with reasoning, told by someone in whose words reasoning is usually `within` the output or `beside` it. A total that
 * comes out in only one of the two ways is believed over the usage, since servers differ: xAI puts reasoning beside OpenAI's
 * `completion_tokens`, and some of Gemini's put it within `candidatesTokenCount`.
 */
export function withReasoning(
  usually: 'within' | 'beside',
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

function pathOf(key: string, inner: string | undefined): readonly string[] {
  return inner === undefined ? [key] : [key, inner]
}
