import { type ConfigProblem, type FaultCode, SallyportError } from '../errors.ts'
import { nearNames } from '../model/suggestions.ts'
import { kindOf } from './shown-value.ts'

export type GivenOptions = Readonly<Record<string, unknown>>

/** Fault of a value: a text, or the problems of its members. `undefined`: no fault. */
export type OptionFault = string | readonly ConfigProblem[] | undefined

/**
 * Check of an optional option. Not called for `undefined`, which means absent, unless it is required; `null` is a value.
 *
 * @param given All options of the call, for a rule between two of them.
 */
export interface Check {
  (value: unknown, given: GivenOptions): OptionFault
  readonly missing?: never
}

export interface RequiredCheck {
  (value: unknown, given: GivenOptions): OptionFault
  /** Detail of the problem when the option is absent. Empty: what the check says of `undefined`. */
  readonly missing: string
}

/** A check for each option of a type, `required` where the type requires it: a new option without a check is a type error. */
export type Checks<Options> = {
  // biome-ignore lint/complexity/noBannedTypes: an optional member is one that `{}` lacks.
  readonly [Name in keyof Options]-?: {} extends Pick<Options, Name> ? Check : RequiredCheck
}

type Table = Readonly<Record<string, Check | RequiredCheck>>

/** Returns the problems between options of a call. Each option may be invalid. */
export type Rules = (given: GivenOptions) => readonly ConfigProblem[]

// @__NO_SIDE_EFFECTS__
export function required(check: Check, missing = ''): RequiredCheck {
  return Object.assign((value: unknown, given: GivenOptions) => check(value, given), { missing })
}

/**
 * Reads the options of a call by a table of checks. Returns a copy that the caller cannot change.
 *
 * @throws {SallyportError} `option_invalid`, with all problems at once: an option is unknown (with suggestions), missing, of
 * another type, out of range, or breaks one of the `rules`.
 */
export function readOptions<Options extends object>(
  call: string,
  options: Options,
  checks: Checks<Options>,
  rules?: Rules,
  code?: FaultCode,
): Options {
  const { own, problems } = examine(options, checks as Table, rules)
  optionError(call, problems, code)
  return own as Options
}

/**
 * Checks arguments of one kind.
 *
 * @throws {SallyportError} `option_invalid`; the fields are `argument 1`, `argument 2`, …
 */
export function checkArguments(call: string, values: readonly unknown[], check: Check, least = 1): void {
  const few = values.length < least ? [{ detail: `needs at least ${least} of these arguments` }] : []
  const problems = values.map((value, index) => problemsAt(`argument ${index + 1}`, faultOf(value, check)))
  optionError(call, [...few, ...problems.flat()])
}

export function faultOf(value: unknown, check: Check): OptionFault {
  return check(value, {}) ?? (value === undefined ? 'is required' : undefined)
}

export function problemsIn(options: unknown, checks: object, rules?: Rules): readonly ConfigProblem[] {
  return examine(options, checks as Table, rules).problems
}

export function optionError(
  call: string,
  problems: readonly ConfigProblem[],
  code: FaultCode = 'option_invalid',
): void {
  if (problems.length > 0) throw new SallyportError(code, `${call}:`, problems)
}

/** Check of an option that is itself an object of options. */
// @__NO_SIDE_EFFECTS__
export function nested<Options>(checks: Checks<Options>, rules?: Rules): Check {
  return (value) => problemsIn(value, checks, rules)
}

/** Suggestions for an unknown name, as the end of a detail. */
export function near(name: string, names: readonly string[]): string {
  const found = nearNames(name, names)
  return found.length > 0 ? `; near: ${found.join(', ')}` : ''
}

/** {@link near}, or all names if none is near. */
export function choices(name: string, names: readonly string[], what = 'options'): string {
  return near(name, names) || `; the ${what} are: ${names.join(', ')}`
}

export function problemsAt(field: string, fault: OptionFault): readonly ConfigProblem[] {
  if (fault === undefined) return []
  if (typeof fault === 'string') return [{ field, detail: fault }]
  return fault.map((problem) => ({ ...problem, field: pathOf(field, problem.field) }))
}

export function isRecord(value: unknown): value is GivenOptions {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function examine(
  given: unknown,
  checks: Table,
  rules?: Rules,
): { own: GivenOptions; problems: readonly ConfigProblem[] } {
  if (!isRecord(given)) {
    return { own: {}, problems: [{ detail: `is ${kindOf(given)}; must be an object of options` }] }
  }
  const names = Object.keys(checks)
  // Reads every option once: a getter cannot return another value after the check.
  const own = Object.fromEntries(
    names.map((name) => [name, optionValue(given, name)]).filter(([, value]) => value !== undefined),
  )
  const unknown = Object.keys(given).filter((name) => !names.includes(name))
  const absent = names.filter((name) => own[name] === undefined)
  // A misspelt option is one problem, and not also an absent option.
  const meant: GivenOptions = Object.fromEntries(
    unknown.flatMap((name) =>
      nearNames(name, absent)
        .slice(0, 1)
        .map((near) => [near, given[name]]),
    ),
  )
  const problems = Object.entries(checks).flatMap(([name, check]) =>
    problemsAt(
      name,
      own[name] === undefined && Object.hasOwn(meant, name) ? undefined : optionFault(own[name], check, own),
    ),
  )
  return {
    own,
    problems: [
      ...unknown.map((field) => ({ field, detail: `is not an option${choices(field, names)}` })),
      ...problems,
      ...(rules?.({ ...meant, ...own }) ?? []),
    ],
  }
}

function optionFault(value: unknown, check: Check | RequiredCheck, given: GivenOptions): OptionFault {
  if (value !== undefined) return check(value, given)
  return check.missing === undefined ? undefined : check.missing || (check(value, given) ?? 'is required')
}

/** Reads an option, own or inherited (a class instance may hold options), but not from `Object.prototype`. */
function optionValue(given: GivenOptions, name: string): unknown {
  if (Object.hasOwn(given, name)) return given[name]
  if (name in Object.prototype) return undefined
  const value = given[name]
  return typeof value === 'function' ? value.bind(given) : value
}

function pathOf(field: string, inner: string | undefined): string {
  if (inner === undefined) return field
  return inner.startsWith('[') ? field + inner : `${field}.${inner}`
}
