import type { Issue } from '../../errors.ts'
import { durationOf } from '../../model/duration.ts'
import { parseInstant } from '../../model/instants.ts'
import { pointerTo } from '../../model/json-pointer.ts'
import { isRecord } from '../../options/read-options.ts'
import { checkQuery, queryRefused } from '../answers/query.ts'
import { type HandlerRequest, isRefused, type Refused } from '../answers/result.ts'
import type { ReadAction } from '../endpoints.ts'
import { checkJsonSafety } from '../json/safety-check.ts'
import { invalid, MAX_LISTED } from '../validate.ts'

/** How the text of a query parameter is read. `instant`: RFC 3339 or epoch milliseconds. `duration`: such as `15m`. */
export type ParameterKind = 'text' | 'instant' | 'limit' | 'flag' | 'duration'

/** Query parameter of the read API. */
export type ReadParameter =
  | 'channel'
  | 'content'
  | 'cursor'
  | 'eventType'
  | 'first'
  | 'jti'
  | 'limit'
  | 'model'
  | 'outcome'
  | 'provider'
  | 'reason'
  | 'recipient'
  | 'sessionId'
  | 'since'
  | 'status'
  | 'step'
  | 'tag'
  | 'until'
  | 'userId'
  | 'window'

/** Kinds of parameters that are no texts. */
const KINDS: Readonly<Partial<Record<ReadParameter, ParameterKind>>> = {
  content: 'flag',
  limit: 'limit',
  since: 'instant',
  step: 'duration',
  until: 'instant',
  window: 'duration',
}

export function kindOf(parameter: ReadParameter): ParameterKind {
  return KINDS[parameter] ?? 'text'
}

const PAGE = ['cursor', 'limit'] as const
const TIMES = ['since', 'until'] as const
const RUNS = ['status', 'provider', 'model', 'userId', 'tag', ...TIMES, 'first', ...PAGE] as const

/** Query parameters of each action. Others are refused. */
export const READ_PARAMETERS: Readonly<Record<ReadAction, readonly ReadParameter[]>> = {
  list_dispatches: ['status', 'eventType', 'recipient', 'channel', 'reason', 'sessionId', ...TIMES, ...PAGE],
  get_dispatch: ['content'],
  cancel_dispatch: [],
  retry_dispatch: [],
  find_recipient: [],
  list_suppressions: ['channel', 'reason', ...PAGE],
  find_suppressions: [],
  add_suppression: [],
  remove_suppressions: [],
  list_sessions: [...TIMES, ...PAGE],
  get_session: [],
  session_timeline: PAGE,
  session_runs: RUNS,
  get_run: [],
  list_runs: ['sessionId', ...RUNS],
  get_statistics: ['window', 'step'],
  list_events: [],
  check_budgets: ['sessionId', 'userId'],
  list_token_uses: ['jti', 'sessionId', 'outcome', ...PAGE],
}

/** Member of a body. */
export type ReadMember = 'recipient' | 'address' | 'addressKey' | 'channel' | 'reason' | 'category' | 'expiresInMs'

/** Members of the body of each `POST`. Others are refused: a misspelled `channel` would retry all channels. */
export const READ_MEMBERS: Readonly<Partial<Record<ReadAction, readonly ReadMember[]>>> = {
  cancel_dispatch: [],
  retry_dispatch: ['channel'],
  find_recipient: ['recipient'],
  find_suppressions: ['address', 'addressKey', 'channel'],
  add_suppression: ['channel', 'address', 'reason', 'category', 'expiresInMs'],
  remove_suppressions: ['address', 'addressKey', 'channel'],
}

/** Largest page over HTTP. */
export const MAX_LIMIT = 200

/** Options of the call that a request makes, by name. */
type CallOptions = Readonly<Record<string, unknown>>

/** Reads the query and the body of a request, with all faults of either. The call checks the values themselves. */
export function readInput(
  action: ReadAction,
  { query = {}, body }: Pick<HandlerRequest, 'query' | 'body'>,
): { readonly options: CallOptions } | Refused {
  const unknown = checkQuery(query, READ_PARAMETERS[action])
  if (unknown) return unknown
  const options: Record<string, unknown> = {}
  const faults: Issue[] = []
  for (const [name, text] of Object.entries(query)) {
    const { value, fault } = readParameter(text, kindOf(name as ReadParameter))
    if (fault === undefined) options[name] = value
    else
      faults.push({ pointer: pointerTo('', name), code: typeof text === 'string' ? 'format' : 'type', detail: fault })
  }
  if (faults.length > 0) return queryRefused(faults)
  const members = READ_MEMBERS[action]
  const sent = members && readMembers(body, members)
  return isRefused(sent) ? sent : { options: { ...options, ...sent } }
}

function readParameter(
  text: string | readonly string[] | undefined,
  kind: ParameterKind,
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
