import { SallyportError } from '../errors.ts'
import { isPromise } from '../model/awaitable.ts'
import { ignoreRejection } from '../model/thrown.ts'

const MAX_MEMBERS = 4
const MEMBER = /^[A-Za-z_]{1,24}$/

/**
 * Error for a wrong return value of host code: `find() of the directory returned an object with userId; return { id, … }`. Names the
 * kind of the value and the names of its members, never a value. Never throws.
 *
 * @param call The called method, such as `find() of the directory`.
 * @param expected What to return, and what each value means.
 */
export function wrongReturn(call: string, given: unknown, expected: string): SallyportError {
  ignoreRejection(given)
  return new SallyportError('answer_invalid', `${call} returned ${kindOf(given)}; return ${expected}`)
}

/** {@link wrongReturn} for one member of an otherwise usable value, such as `locale`. */
export function wrongMember(call: string, member: string, given: unknown, expected: string): SallyportError {
  ignoreRejection(given)
  return new SallyportError('answer_invalid', `${call} returned ${kindOf(given)} as ${member}; return ${expected}`)
}

const VERDICT =
  "{ verdict: 'send', limits? }, { verdict: 'skip', reason: 'opted_out' or 'throttled' } or { verdict: 'defer', until, limits? } with " +
  'until in epoch milliseconds and limits of { key, max, windowMs }'

/** {@link wrongReturn} of a delivery policy. */
export function noVerdict(call: string, given: unknown): SallyportError {
  return wrongReturn(call, given, VERDICT)
}

/** The kind of a value in words: `undefined`, `a string`, `an object with id (a number), name (a string)`. */
function kindOf(given: unknown): string {
  try {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return simpleKindOf(given)
    if (isPromise(given)) return 'a promise'
    if (given instanceof Error) return 'an error instead of throwing it'
    const members = Object.keys(given)
    if (members.length === 0) return 'an object without members'
    const named = members.filter((name) => MEMBER.test(name)).slice(0, MAX_MEMBERS)
    if (named.length === 0) return 'an object'
    const kinds = named.map((name) => `${name} (${simpleKindOf(Reflect.get(given, name))})`).join(', ')
    return `an object with ${kinds}${members.length > named.length ? ', …' : ''}`
  } catch {
    return 'an object that cannot be read'
  }
}

function simpleKindOf(given: unknown): string {
  if (given === undefined || given === null) return `${given}`
  if (Array.isArray(given)) return 'an array'
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`
}
