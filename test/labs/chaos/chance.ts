/** Random numbers, reproducible from the seed. */
export interface Chance {
  /** At least 0 and less than 1. */
  next(): number
  /** A whole number in this range, both ends included. */
  between(least: number, most: number): number
  /** An element of a non-empty list. */
  of<T>(list: readonly T[]): T
}

/** Mulberry32, random enough to choose victims and moments. */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return { next, between, of: (list) => list[between(0, list.length - 1)] as (typeof list)[number] }
}
