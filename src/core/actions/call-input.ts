import type { Issue } from '../../errors.ts'
import { durationOf } from '../../model/duration.ts'
import { parseInstant } from '../../model/instants.ts'
import { pointerTo } from '../../model/json-pointer.ts'
import { isRecord } from '../../options/read-options.ts'
import { checkQuery, queryRefused } from '../answers/query.ts'
import { type HandlerRequest, isRefused, type Refused } from '../answers/result.ts'
import { checkJsonSafety } from '../json/safety-check.ts'
import { invalid, MAX_LISTED } from '../validate.ts'

/** Query parameters and members of the body that an action takes. Others are refused: a misspelled `channel` would retry all channels. */
export interface CallInput {
  readonly query?: Readonly<Record<string, ParameterKind>>
  /** Names of members. Absent: the action takes no body. */
  readonly body?: readonly string[]
}

/** How the text of a query parameter is read. `instant`: RFC 3339 or epoch milliseconds. `duration`: such as `15m`. */
export type ParameterKind = 'text' | 'instant' | 'limit' | 'flag' | 'duration'

/** Largest page over HTTP. */
export const MAX_LIMIT = 200

/** Options of the call that a request makes, by name. */
export type CallOptions = Readonly<Record<string, unknown>>

/** Reads the query and the body of a request, with all faults of either. The call checks the values themselves. */
export function readInput(
  { query: known = {}, body: members }: CallInput,
  { query = {}, body }: Pick<HandlerRequest, 'query' | 'body'>,
): { readonly options: CallOptions } | Refused {
  const unknown = checkQuery(query, Object.keys(known))
  if (unknown) return unknown
  const options: Record<string, unknown> = {}
  const faults: Issue[] = []
  for (const [name, text] of Object.entries(query)) {
    const { value, fault } = readParameter(text, known[name])
    if (fault === undefined) options[name] = value
    else
      faults.push({ pointer: pointerTo('', name), code: typeof text === 'string' ? 'format' : 'type', detail: fault })
  }
  if (faults.length > 0) return queryRefused(faults)
  const sent = members && readMembers(body, members)
  return isRefused(sent) ? sent : { options: { ...options, ...sent } }
}

function readParameter(
  text: string | readonly string[] | undefined,
  kind: ParameterKind = 'text',
): { readonly value?: unknown; readonly fault?: string } {
  if (typeof text !== 'string') return { fault: 'must be given once' }
  switch (kind) {
    case 'text':
      return { value: text }
    case 'instant': {
      const value = /^\d{12,15}$/.test(text) ? Number(text) : parseInstant(text)
      return value === undefined ? { fault: 'must be an RFC 3339 instant or epoch milliseconds' } : { value }
    }
    case 'limit': {
      const isInRange = /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_LIMIT
      return isInRange ? { value: Number(text) } : { fault: `must be a whole number from 1 to ${MAX_LIMIT}` }
    }
    case 'duration': {
      const value = durationOf(text)
      return value === undefined ? { fault: 'must be a duration such as 1h, 15m or 30d' } : { value }
    }
    case 'flag':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { fault: 'must be true or false' }
  }
}

/** No body is an empty object. `null` means absent, as in every body. */
function readMembers(body: unknown, members: readonly string[]): CallOptions | Refused {
  if (body === undefined) return {}
  const dangers = checkJsonSafety(body)
  if (dangers.length > 0) return invalid(dangers)
  if (!isRecord(body)) return invalid([{ pointer: '', code: 'type', detail: 'expected object' }])
  const known = members.length === 0 ? 'no member is known here' : `the members are ${members.join(', ')}`
  const unknown = Object.keys(body)
    .filter((name) => !members.includes(name))
    .map((name): Issue => ({ pointer: pointerTo('', name), code: 'not_allowed', detail: known }))
  if (unknown.length > 0) return invalid(unknown.slice(0, MAX_LISTED))
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}
