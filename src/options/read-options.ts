import { type ConfigProblem, type FaultCode, SallyportError } from '../errors.ts'
import { nearNames } from '../model/suggestions.ts'

/** Options as a caller gave them, whatever their type says. */
export type GivenOptions = Readonly<Record<string, unknown>>

/** Says what is wrong with a value: in words, or as problems of what it contains. `undefined`: nothing. */
export type OptionFault = string | readonly ConfigProblem[] | undefined

/**
 * The check of an option that may be left out. It is never called for `undefined`, which is absence; `null` is a value.
 *
 * @param given All options of the call: for a rule between two of them.
 */
export interface Check {
  (value: unknown, given: GivenOptions): OptionFault
  readonly missing?: never
}

/** The check of an option that must be given. */
export interface RequiredCheck {
  (value: unknown, given: GivenOptions): OptionFault
  /** The detail of the problem when the option is absent. */
  readonly missing: string
}

/** A check for each option of a type, `required` where the type requires it: a new option without a check is a type error. */
export type Checks<Options> = {
  // biome-ignore lint/complexity/noBannedTypes: an optional member is one that `{}` lacks.
  readonly [Name in keyof Options]-?: {} extends Pick<Options, Name> ? Check : RequiredCheck
}

type Table = Readonly<Record<string, Check | RequiredCheck>>

/** Says what is wrong between the options of a call. Each of them may be wrong itself. */
export type Rules = (given: GivenOptions) => readonly ConfigProblem[]

/** Makes an option required. */
// @__NO_SIDE_EFFECTS__
export function required(check: Check, missing = 'is required'): RequiredCheck {
  return Object.assign((value: unknown, given: GivenOptions) => check(value, given), { missing })
}

/**
 * Reads the options of a call: a copy of those that are given, which nobody can change afterwards.
 *
 * @throws {SallyportError} `option_invalid`, with all problems at once: an option that is unknown, with the names near to it, is
 * missing, has another type, is out of its range, or breaks one of the `rules`.
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
 * Checks arguments that are all of one kind.
 *
 * @throws {SallyportError} `option_invalid`, with all problems at once; their fields are `argument 1`, `argument 2`, …
 */
export function checkArguments(call: string, values: readonly unknown[], check: Check, least = 1): void {
  const few = values.length < least ? [{ detail: `needs at least ${least} of these arguments` }] : []
  const problems = values.map((value, index) => problemsAt(`argument ${index + 1}`, faultOf(value, check)))
  optionError(call, [...few, ...problems.flat()])
}

/** What is wrong with a value that must be there. */
export function faultOf(value: unknown, check: Check): OptionFault {
  return value === undefined ? 'is required' : check(value, {})
}

/** All problems of options; their fields are names of options. */
export function problemsIn(options: unknown, checks: object, rules?: Rules): readonly ConfigProblem[] {
  return examine(options, checks as Table, rules).problems
}

/** Throws if there are any problems. */
export function optionError(
  call: string,
  problems: readonly ConfigProblem[],
  code: FaultCode = 'option_invalid',
): void {
  if (problems.length > 0) throw new SallyportError(code, `${call}:`, problems)
}

/** The check of an option that has options itself. */
// @__NO_SIDE_EFFECTS__
export function nested<Options>(checks: Checks<Options>, rules?: Rules): Check {
  return (value) => problemsIn(value, checks, rules)
}

/** Names that are not known, with the names near to them. */
function unknownIn(given: object, names: readonly string[]): ConfigProblem[] {
  const unknown = Object.keys(given).filter((name) => !names.includes(name))
  return unknown.map((field) => ({
    field,
    detail: `is not an option${near(field, names) || `; the options are: ${names.join(', ')}`}`,
  }))
}

/** The names near to one that is not known, for the end of a detail. */
export function near(name: string, names: readonly string[]): string {
  const found = nearNames(name, names)
  return found.length > 0 ? `; near: ${found.join(', ')}` : ''
}

/** The problems of one value, in a field. */
export function problemsAt(field: string, fault: OptionFault): readonly ConfigProblem[] {
  if (fault === undefined) return []
  if (typeof fault === 'string') return [{ field, detail: fault }]
  return fault.map((problem) => ({ ...problem, field: descendants(field, problem.field) }))
}

/** Whether a value is an object with keys. */
export function isRecord(value: unknown): value is GivenOptions {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function examine(
  given: unknown,
  checks: Table,
  rules?: Rules,
): { own: GivenOptions; problems: readonly ConfigProblem[] } {
  if (!isRecord(given)) return { own: {}, problems: [{ detail: 'must be an object of options' }] }
  const names = Object.keys(checks)
  // Every option is read once: a getter cannot give another value after the check.
  const own = Object.fromEntries(
    names.map((name) => [name, optionValue(given, name)]).filter(([, value]) => value !== undefined),
  )
  const problems = Object.entries(checks).flatMap(([name, check]) =>
    problemsAt(name, own[name] === undefined ? check.missing : check(own[name], own)),
  )
  return { own, problems: [...unknownIn(given, names), ...problems, ...(rules?.(own) ?? [])] }
}

/** The value of an option, which may be inherited: a class may hold options. What every object has is none. */
function optionValue(given: GivenOptions, name: string): unknown {
  if (Object.hasOwn(given, name)) return given[name]
  if (name in Object.prototype) return undefined
  const value = given[name]
  return typeof value === 'function' ? value.bind(given) : value
}

function descendants(field: string, inner: string | undefined): string {
  if (inner === undefined) return field
  return inner.startsWith('[') ? field + inner : `${field}.${inner}`
}
