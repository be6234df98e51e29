import { type Check, faultOf, isRecord, problemsAt } from './read-options.ts'

const HOUR_MS = 3_600_000

/** Accepts values for which `fits` returns true. `fits` is called with any value. */
// @__NO_SIDE_EFFECTS__
export function matching(fits: (value: unknown) => boolean, detail: string): Check {
  return (value) => (fits(value) ? undefined : detail)
}

export const bool: Check = matching((value) => typeof value === 'boolean', 'must be true or false')

export const fn: Check = matching((value) => typeof value === 'function', 'must be a function')

export const text: Check = matching((value) => typeof value === 'string', 'must be a string')

export const word: Check = matching((value) => typeof value === 'string' && value !== '', 'must be a non-empty string')

// @__NO_SIDE_EFFECTS__
export function like(pattern: RegExp, detail: string): Check {
  return matching((value) => typeof value === 'string' && pattern.test(value), detail)
}

// @__NO_SIDE_EFFECTS__
export function whole(least: number, greatest: number): Check {
  return matching(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest,
    `must be a whole number from ${least} to ${greatest}`,
  )
}

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

/** A logger of the host: see `GivenLogger` of the ports. */
export const loggerPort: Check = matching(
  (value) => [['log'], ['info', 'warn', 'error']].some((methods) => has(...methods)(value, {}) === undefined),
  'must be a pino logger, console, or an object with log(level, event, fields)',
)

/** A list without holes or `undefined` items; `item` is not called for these. */
// @__NO_SIDE_EFFECTS__
export function arrayOf(item: Check, detail = 'must be a list', least = 0): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < least) return detail
    return [...value].flatMap((each, index) => problemsAt(`[${index}]`, faultOf(each, item)))
  }
}

// @__NO_SIDE_EFFECTS__
export function recordOf(item: Check): Check {
  return (value) => {
    if (!isRecord(value)) return 'must be an object'
    return Object.entries(value).flatMap(([name, each]) => problemsAt(name, faultOf(each, item)))
  }
}

/** A non-empty list for a filter: an empty one would silently disable the filter. */
export const names: Check = arrayOf(word, 'must be a list of at least one name', 1)

/** Time-out of a network call in milliseconds. */
export const timeout: Check = whole(1, HOUR_MS)

/** Delays before each further attempt, in milliseconds. */
export const schedule: Check = matching(
  (value) =>
    Array.isArray(value) && [...value].every((ms, index) => Number.isSafeInteger(ms) && ms >= (value[index - 1] ?? 0)),
  'must be whole milliseconds in ascending order',
)
