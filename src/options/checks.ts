import { type Check, faultOf, isRecord, problemsAt } from './read-options.ts'
import { kindOf, shown, shownName } from './shown-value.ts'

const HOUR_MS = 3_600_000
const LOGGER = 'a pino logger, console, or an object with log(level, event, fields)'

/** Says what came; empty: nothing that helps. */
type Say = (value: unknown) => string

/** The kind of a value. A text of the right kind and the wrong form is neither repeated nor named. */
const unlessText: Say = (value) => (typeof value === 'string' && value !== '' ? '' : kindOf(value))

/**
 * Accepts values for which `fits` returns true. `fits` is called with any value.
 *
 * @param detail Begins with `must be`.
 * @param say What the message says of the value. Default: its kind, unless it is a text. {@link shown} and {@link shownName} repeat
 * values: never for options that may hold a secret.
 */
// @__NO_SIDE_EFFECTS__
export function matching(fits: (value: unknown) => boolean, detail: string, say: Say = unlessText): Check {
  return (value) => (fits(value) ? undefined : what(say(value), detail))
}

/** `is 0; must be …` */
function what(said: string, detail: string): string {
  return said === '' ? detail : `is ${said}; ${detail}`
}

export const bool: Check = matching((value) => typeof value === 'boolean', 'must be true or false', shown)

export const fn: Check = matching((value) => typeof value === 'function', 'must be a function', kindOf)

export const text: Check = matching((value) => typeof value === 'string', 'must be a string')

export const word: Check = matching((value) => typeof value === 'string' && value !== '', 'must be a non-empty string')

// @__NO_SIDE_EFFECTS__
export function like(pattern: RegExp, detail: string, say: Say = unlessText): Check {
  return matching((value) => typeof value === 'string' && pattern.test(value), detail, say)
}

// @__NO_SIDE_EFFECTS__
export function whole(least: number, greatest: number): Check {
  return matching(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest,
    `must be a whole number from ${least} to ${greatest}`,
    shown,
  )
}

// @__NO_SIDE_EFFECTS__
export function oneOf(values: readonly unknown[], say: Say = unlessText): Check {
  return matching((value) => values.includes(value), `must be one of ${values.join(', ')}`, say)
}

/** {@link oneOf} for options of a start: it repeats a short wrong name. Values of later calls may come from users. */
// @__NO_SIDE_EFFECTS__
export function choice(values: readonly unknown[]): Check {
  return oneOf(values, shownName)
}

/**
 * An object with methods, of any class.
 *
 * @param give What to pass, such as `memoryStore()`.
 */
// @__NO_SIDE_EFFECTS__
export function has(give: string, ...methods: readonly string[]): Check {
  return (value) => {
    const missing = methods.filter((method) => typeof Reflect.get(Object(value), method) !== 'function')
    if (missing.length === 0) return undefined
    const isPart = typeof value === 'function' || (isRecord(value) && !(value instanceof Promise))
    const fault = isPart ? `has no ${missing.join(', ')}` : `is ${kindOf(value)}`
    if (typeof value === 'function') return `${fault}: must it be called? Pass ${give}`
    return `${fault}; ${value instanceof Promise ? 'await it, or ' : ''}pass ${give}`
  }
}

/** A logger of the host: see `GivenLogger` of the ports. */
export const loggerPort: Check = (value, given) =>
  has(LOGGER, 'log')(value, given) && has(LOGGER, 'info', 'warn', 'error')(value, given)

/** A list without holes or `undefined` items; `item` is not called for these. */
// @__NO_SIDE_EFFECTS__
export function arrayOf(item: Check, detail = 'must be a list', least = 0): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < least) return what(kindOf(value), detail)
    return [...value].flatMap((each, index) => problemsAt(`[${index}]`, faultOf(each, item)))
  }
}

// @__NO_SIDE_EFFECTS__
export function recordOf(item: Check, detail = 'must be an object'): Check {
  return (value) => {
    if (!isRecord(value)) return what(kindOf(value), detail)
    return Object.entries(value).flatMap(([name, each]) => problemsAt(name, faultOf(each, item)))
  }
}

/** Time for tests. */
export const clock: Check = has('fakeClock() of sallyport/testing, or leave it out', 'now', 'after')
/** {@link clock} of which only `now` is read. */
export const nowClock: Check = has('an object { now } that returns epoch milliseconds, or leave it out', 'now')

/** A non-empty list for a filter: an empty one would silently disable the filter. */
export const names: Check = arrayOf(word, 'must be a list of at least one name', 1)

/** Time-out of a network call in milliseconds. */
export const timeout: Check = whole(1, HOUR_MS)

const delay = matching(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  'must be whole milliseconds, 0 or more',
  shown,
)
const delays = arrayOf(delay, 'must be a list of milliseconds, such as [1000, 5000]')

/** Delays before each further attempt, in milliseconds. */
export const schedule: Check = (value, given) => {
  const fault = delays(value, given)
  if (!Array.isArray(value) || typeof fault === 'string') return fault
  const early = value.flatMap((ms, index) =>
    ms < value[index - 1]
      ? problemsAt(`[${index}]`, `is ${shown(ms)}; must not be below ${shown(value[index - 1])}, the one before it`)
      : [],
  )
  return [...(fault ?? []), ...early]
}
