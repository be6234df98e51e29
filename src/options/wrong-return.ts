import { SallyportError } from '../errors.ts'
import { isPromise } from '../model/awaitable.ts'
import { ignoreRejection } from '../model/thrown.ts'
import { isRecord } from './read-options.ts'
import { kindOf } from './shown-value.ts'

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
  return new SallyportError('answer_invalid', `${call} returned ${describe(given)}; return ${expected}`)
}

/** {@link wrongReturn} for one member of an otherwise usable value, such as `locale`. */
export function wrongMember(call: string, member: string, given: unknown, expected: string): SallyportError {
  ignoreRejection(given)
  return new SallyportError('answer_invalid', `${call} returned ${describe(given)} as ${member}; return ${expected}`)
}

const VERDICT =
  "{ verdict: 'send', limits? }, { verdict: 'skip', reason: 'opted_out' or 'throttled' } or { verdict: 'defer', until, limits? } with " +
  'until in epoch milliseconds and limits of { key, max, windowMs }'

/** {@link wrongReturn} of a delivery policy. */
export function noVerdict(call: string, given: unknown): SallyportError {
  return wrongReturn(call, given, VERDICT)
}

/** {@link kindOf}, and the kinds of members: `an object with id (a number), name (a string)`. */
function describe(given: unknown): string {
  try {
    if (!isRecord(given) || isPromise(given)) return isPromise(given) ? 'a promise' : kindOf(given)
    if (given instanceof Error) return 'an error instead of throwing it'
    const members = Object.keys(given)
    if (members.length === 0) return 'an object without members'
    const named = members.filter((name) => MEMBER.test(name)).slice(0, MAX_MEMBERS)
    if (named.length === 0) return 'an object'
    const kinds = named.map((name) => `${name} (${kindOf(given[name])})`).join(', ')
    return `an object with ${kinds}${members.length > named.length ? ', …' : ''}`
  } catch {
    return 'an object that cannot be read'
  }
}
