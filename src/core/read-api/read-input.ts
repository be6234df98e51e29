import type { Issue } from '../../errors.ts'
import { parseInstant } from '../../model/instants.ts'
import { checkQuery, queryInvalid } from '../answers/query.ts'
import { type HandlerRequest, isRefused, type Refused } from '../answers/result.ts'
import type { ReadAction } from '../endpoints.ts'
import { pointerTo } from '../json/json-pointer.ts'
import { checkJsonSafety } from '../json/safety-check.ts'
import { invalid } from '../validate.ts'

/** How the text of a query parameter is read. `instant`: RFC 3339 or epoch milliseconds. */
export type ParameterKind = 'text' | 'instant' | 'limit' | 'flag'

const TIMES = { since: 'instant', until: 'instant' } as const
const PAGE = { cursor: 'text', limit: 'limit' } as const
const RUN_FILTERS = { status: 'text', provider: 'text', model: 'text', userId: 'text', tag: 'text' } as const
const RUNS = { ...RUN_FILTERS, ...TIMES, first: 'text', ...PAGE } as const

/** Query parameters of each action. Others are refused. */
export const READ_PARAMETERS: Readonly<Record<ReadAction, Readonly<Record<string, ParameterKind>>>> = {
  list_dispatches: {
    ...{ status: 'text', eventType: 'text', recipient: 'text', channel: 'text', sessionId: 'text' },
    ...TIMES,
    ...PAGE,
  },
  get_dispatch: { content: 'flag' },
  cancel_dispatch: {},
  retry_dispatch: {},
  list_suppressions: { channel: 'text', reason: 'text', ...PAGE },
  find_suppressions: {},
  add_suppression: {},
  remove_suppressions: {},
  list_sessions: { ...TIMES, ...PAGE },
  get_session: {},
  session_timeline: PAGE,
  session_runs: RUNS,
  get_run: {},
  list_runs: { sessionId: 'text', ...RUNS },
  list_token_uses: { jti: 'text', sessionId: 'text', outcome: 'text', ...PAGE },
}

/** Members of the body of each `POST`. Others are refused: a misspelled `channel` would retry all channels. */
export const READ_MEMBERS: Readonly<Partial<Record<ReadAction, readonly string[]>>> = {
  cancel_dispatch: [],
  retry_dispatch: ['channel'],
  find_suppressions: ['address', 'channel'],
  add_suppression: ['channel', 'address', 'reason', 'category', 'expiresInMs'],
  remove_suppressions: ['address', 'channel'],
}

/** Largest page over HTTP. */
const MAX_LIMIT = 200

/** Options of the call that a request makes, by name. */
export type ReadCallOptions = Readonly<Record<string, unknown>>

/** Reads the query and the body of a request. The values themselves are checked by the call. */
export function readInput(
  action: ReadAction,
  { query = {}, body }: Pick<HandlerRequest, 'query' | 'body'>,
): { readonly options: ReadCallOptions } | Refused {
  const kinds = READ_PARAMETERS[action]
  const unknown = checkQuery(query, Object.keys(kinds))
  if (unknown) return unknown
  const options: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(query)) {
    const pointer = pointerTo('', name)
    if (typeof text !== 'string') return queryInvalid(pointer, 'type', 'must be given once')
    const { value, fault } = readParameter(text, kinds[name] ?? 'text')
    if (fault !== undefined) return queryInvalid(pointer, 'format', fault)
    options[name] = value
  }
  const members = READ_MEMBERS[action]
  const sent = members && readMembers(body, members)
  return isRefused(sent) ? sent : { options: { ...options, ...sent } }
}

function readParameter(text: string, kind: ParameterKind): { readonly value?: unknown; readonly fault?: string } {
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
    case 'flag':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { fault: 'must be true or false' }
  }
}

/** No body is an empty object. `null` means absent, as in every body. */
function readMembers(body: unknown, members: readonly string[]): ReadCallOptions | Refused {
  if (body === undefined) return {}
  const dangers = checkJsonSafety(body)
  if (dangers.length > 0) return invalid(dangers)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return invalid([{ pointer: '', code: 'type', detail: 'expected object' }])
  }
  const known = members.length === 0 ? 'no member is known here' : `the members are ${members.join(', ')}`
  const unknown = Object.keys(body)
    .filter((name) => !members.includes(name))
    .map((name): Issue => ({ pointer: pointerTo('', name), code: 'not_allowed', detail: known }))
  if (unknown.length > 0) return invalid(unknown.slice(0, MAX_LISTED))
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

const MAX_LISTED = 50
