import type { Prefix, Value } from '../../engine/records.ts'

/** Compares values by position, as many as both have. Texts compare as databases compare them: by code points. */
export function comparePositions(one: Prefix, other: Prefix): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const order = compareValues(one[at] as Value, other[at] as Value)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(one: Value, other: Value): number {
  if (one === other) return 0
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other)
  return one < other ? -1 : 1
}

const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff

/** Surrogates are code units of characters after all others. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return weightOf(a) - weightOf(b)
  }
  return one.length - other.length
}

function weightOf(code: number): number {
  return code >= FIRST_SURROGATE && code <= LAST_SURROGATE ? code + 0x10000 : code
}
