import { type Check, faultOf, isRecord, problemsAt } from './read-options.ts'

const HOUR_MS = 3_600_000

/** A value for which `fits` returns true. `fits` is called with any value. */
// @__NO_SIDE_EFFECTS__
export function matching(fits: (value: unknown) => boolean, detail: string): Check {
  return (value) => (fits(value) ? undefined : detail)
}

export const bool: Check = matching((value) => typeof value === 'boolean', 'must be true or false')

export const fn: Check = matching((value) => typeof value === 'function', 'must be a function')

export const text: Check = matching((value) => typeof value === 'string', 'must be a string')

/** A text that is not empty. */
export const word: Check = matching((value) => typeof value === 'string' && value !== '', 'must be a non-empty string')

/** A text that matches a pattern. */
// @__NO_SIDE_EFFECTS__
export function like(pattern: RegExp, detail: string): Check {
  return matching((value) => typeof value === 'string' && pattern.test(value), detail)
}

/** An integer in a range, both ends included. */
// @__NO_SIDE_EFFECTS__
export function whole(least: number, greatest: number): Check {
  return matching(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest,
    `must be a whole number from ${least} to ${greatest}`,
  )
}

/** One of several values. */
// @__NO_SIDE_EFFECTS__
export function oneOf(values: readonly unknown[]): Check {
  return matching((value) => values.includes(value), `must be one of ${values.join(', ')}`)
}

/** An object with methods, of any class. */
// @__NO_SIDE_EFFECTS__
export function has(...methods: readonly string[]): Check {
  return (value) => {
    if (value === null) return 'is null'
    const missing = methods.filter((method) => typeof Reflect.get(Object(value), method) !== 'function')
    if (missing.length === 0) return undefined
    return `has no ${missing.join(', ')}${typeof value === 'function' ? ': must it be called?' : ''}`
  }
}

/** A list. An item must not be `undefined`, and the list must have no holes; `item` is not called for them. */
// @__NO_SIDE_EFFECTS__
export function arrayOf(item: Check, detail = 'must be a list', least = 0): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < least) return detail
    return [...value].flatMap((each, index) => problemsAt(`[${index}]`, faultOf(each, item)))
  }
}

/** An object with names of the caller's choice. */
// @__NO_SIDE_EFFECTS__
export function recordOf(item: Check): Check {
  return (value) => {
    if (!isRecord(value)) return 'must be an object'
    return Object.entries(value).flatMap(([name, each]) => problemsAt(name, faultOf(each, item)))
  }
}

/** A list that filters. It must not be empty: that would silently turn the filter off. */
export const names: Check = arrayOf(word, 'must be a list of at least one name', 1)

/** A time-out of a network call in milliseconds. */
export const timeout: Check = whole(1, HOUR_MS)

/** The delays before each further attempt, in milliseconds. */
export const schedule: Check = matching(
  (value) =>
    Array.isArray(value) && [...value].every((ms, index) => Number.isSafeInteger(ms) && ms >= (value[index - 1] ?? 0)),
  'must be whole milliseconds in ascending order',
)
