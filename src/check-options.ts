import { isScope } from './core/authenticate.ts'
import { isRecord, near, numberFault } from './core/definition-checks.ts'
import { type ConfigProblem, SallyportError } from './errors.ts'

/** Says what is wrong with the value of an option; `undefined`: nothing. */
export type Check = (value: unknown) => string | undefined

/** By the names of the options that a call takes. */
export type Checks = Readonly<Record<string, Check>>

/** 20 years: what is more was meant as an instant, and is taken for a length of time. */
const MAX_AGE_MS = 20 * 366 * 86_400_000

export const aTenant: Check = unlessAbsent(isScope, 'is 1-200 visible ASCII characters')

export const aText: Check = unlessAbsent((value) => typeof value === 'string', 'is a string')

export const anInstant: Check = unlessAbsent(isInstant, 'is a Date, or epoch milliseconds')

/** A length of time in milliseconds, which must be said. */
export const anAge: Check = (value) => numberFault(value, [0, MAX_AGE_MS])

export function oneOf(values: readonly string[]): Check {
  const known: readonly unknown[] = values
  return unlessAbsent((value) => known.includes(value), `is one of ${values.join(', ')}`)
}

/** An option that is `undefined` is one that is not said. */
export function unlessAbsent(fits: (value: unknown) => boolean, otherwise: string): Check {
  return (value) => (value === undefined || fits(value) ? undefined : otherwise)
}

/**
 * Gives a copy of options that are as they must be: nobody changes it afterwards, and it has nothing that was not looked at.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong at once; a name that has no check is no option.
 */
export function checkOptions<Options extends object>(call: string, options: Options, checks: Checks): Options {
  const own = { ...options }
  const problems = isRecord(options) ? optionProblems(own, checks) : [{ detail: 'takes an object of options' }]
  if (problems.length > 0) throw new SallyportError('option_invalid', `${call}:`, problems)
  return own
}

/** All that is wrong with options: a name that has no check is none. */
export function optionProblems(options: object, checks: Checks): ConfigProblem[] {
  const given: Readonly<Record<string, unknown>> = { ...options }
  const names = Object.keys(checks)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(checks, name))
  const problems: ConfigProblem[] = unknown.map((field) => ({ field, detail: `is not an option${near(field, names)}` }))
  for (const [field, check] of Object.entries(checks)) {
    const detail = check(given[field])
    if (detail !== undefined) problems.push({ field, detail })
  }
  return problems
}

function isInstant(value: unknown): boolean {
  return (typeof value === 'number' || value instanceof Date) && Number.isFinite(Number(value))
}
