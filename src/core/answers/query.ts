import type { Issue, IssueCode } from '../../errors.ts'
import { type HandlerRequest, type Refused, refuse } from './result.ts'

/** Refuses parameters other than these: a misspelled one must not be ignored, as a misspelled `dryRun` would send. */
export function checkQuery(query: HandlerRequest['query'] = {}, known: readonly string[]): Refused | undefined {
  if (Object.keys(query).every((name) => known.includes(name))) return undefined
  // Names are not quoted: a caller may have put a secret there.
  return queryInvalid('', 'not_allowed', knownOnes(known))
}

function knownOnes(known: readonly string[]): string {
  if (known.length === 0) return 'no query parameter is known here'
  return known.length === 1
    ? `the only query parameter here is ${known[0]}`
    : `the query parameters here are ${known.join(', ')}`
}

/** @param errors Their pointers refer to an object of all parameters. */
export function queryRefused(errors: readonly Issue[]): Refused {
  return refuse('query_invalid', 'The query string cannot be accepted.', { errors })
}

/** @param pointer To the parameter, in an object of all parameters. */
export function queryInvalid(pointer: string, code: IssueCode, detail: string): Refused {
  return queryRefused([{ pointer, code, detail }])
}
