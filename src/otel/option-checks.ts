import { type ConfigProblem, SallyportError } from '../errors.ts'

/** Says what is wrong with the value of an option; `undefined`: nothing. */
export type Check = (value: unknown) => string | undefined

export const aBoolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')

export const aFunction: Check = (value) => (typeof value === 'function' ? undefined : 'must be a function')

export const aSpanKind: Check = (value) =>
  value === 'internal' || value === 'client' ? undefined : 'must be "internal" or "client"'

/** An object that has that method. */
export function anObjectWith(method: string): Check {
  return (value) => {
    const fits = typeof value === 'object' && value !== null && typeof Reflect.get(value, method) === 'function'
    return fits ? undefined : `must be an object with ${method}()`
  }
}

/**
 * Stops start-up with all that is wrong with options at once. One that is `undefined` is one that is not said.
 *
 * @throws SallyportError `option_invalid`.
 */
export function refuseBadOptions(maker: string, options: unknown, checks: Readonly<Record<string, Check>>): void {
  const problems = problemsOf(options, new Map(Object.entries(checks)))
  if (problems.length > 0) throw new SallyportError('option_invalid', `${maker}: the options cannot be used`, problems)
}

function problemsOf(options: unknown, checks: ReadonlyMap<string, Check>): ConfigProblem[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return [{ detail: 'must be an object of options' }]
  return Object.entries(options).flatMap(([field, value]: [string, unknown]) => {
    const check = checks.get(field)
    if (!check) return [{ field, detail: `is not an option (known: ${[...checks.keys()].join(', ')})` }]
    const detail = value === undefined ? undefined : check(value)
    return detail === undefined ? [] : [{ field, detail }]
  })
}
