import type { IssueCode } from '../../errors.ts'
import { type HandlerRequest, type Refused, refuse } from './result.ts'

/** Refuses parameters other than these: a misspelled one must not be ignored, as a misspelled `dryRun` would send. */
export function checkQuery(query: HandlerRequest['query'] = {}, known: readonly string[]): Refused | undefined {
  if (Object.keys(query).every((name) => known.includes(name))) return undefined
  // Names are not quoted: a caller may have put a secret there.
  const detail =
    known.length > 0 ? `the only query parameter here is ${known.join(', ')}` : 'no query parameter is known here'
  return queryInvalid('', 'not_allowed', detail)
}

/** @param pointer To the parameter, in an object of all parameters. */
export function queryInvalid(pointer: string, code: IssueCode, detail: string): Refused {
  return refuse('query_invalid', 'The query string cannot be accepted.', { errors: [{ pointer, code, detail }] })
}
