import type { ReadAction } from '../core/endpoints.ts'
import {
  kindOf,
  MAX_LIMIT,
  type ParameterKind,
  READ_MEMBERS,
  READ_PARAMETERS,
  type ReadMember,
  type ReadParameter,
} from '../core/read-api/read-input.ts'
import type { ProblemCode } from '../errors.ts'
import type { ReadRoute } from '../http/routes.ts'
import { SUPPRESSION_REASONS } from '../model/suppression.ts'
import { UNSENT_REASONS } from '../model/unsent-reason.ts'
import { reference } from './model-schema.ts'
import type { OpenApiOperation, OpenApiParameter, OpenApiRequestBody, OpenApiSchema } from './open-api-document.ts'
import { paragraphs } from './operations.ts'
import { headersNamed } from './parameters-and-headers.ts'
import { readProblems } from './problems.ts'
import { READ_ANSWERS } from './read-schemas.ts'

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly tag: 'outbound' | 'agents'
  readonly about: string
}

const FEWER = 'A page may have fewer items than `limit`, even none, and yet a `next`.'

const DESCRIBED: Readonly<Record<ReadAction, Described>> = {
  list_dispatches: {
    operationId: 'listDispatches',
    summary: 'List dispatches, newest first',
    tag: 'outbound',
    about: `Dispatches that match all given parameters. ${FEWER}`,
  },
  get_dispatch: {
    operationId: 'getDispatch',
    summary: 'Read a dispatch',
    tag: 'outbound',
    about: 'With the attempts, the trace of conditions and the feedback of each delivery.',
  },
  cancel_dispatch: {
    operationId: 'cancelDispatch',
    summary: 'Cancel a dispatch',
    tag: 'outbound',
    about: 'Stops `queued` and `held` deliveries. One that is being sent is not stopped, but is not retried.',
  },
  retry_dispatch: {
    operationId: 'retryDispatch',
    summary: 'Retry a dispatch',
    tag: 'outbound',
    about:
      'Retries `failed` and `expired` deliveries at once. Those that failed in host code are planned again. Repeated, it changes nothing more.',
  },
  find_recipient: {
    operationId: 'findRecipient',
    summary: 'Find what decides whether messages reach a recipient',
    tag: 'outbound',
    about:
      'Its preferences, and the addresses of its newest 50 dispatches with their suppressions. Writes nothing. It is a POST, because an address in a query string would be in access logs.',
  },
  list_suppressions: {
    operationId: 'listSuppressions',
    summary: 'List suppressions',
    tag: 'outbound',
    about: `Addresses that nothing is sent to, as keyed hashes. ${FEWER}`,
  },
  find_suppressions: {
    operationId: 'findSuppressions',
    summary: 'Find the suppressions of an address',
    tag: 'outbound',
    about: 'Writes nothing. It is a POST, because an address in a query string would be in access logs.',
  },
  add_suppression: {
    operationId: 'addSuppression',
    summary: 'Suppress an address',
    tag: 'outbound',
    about: 'From then on no attempt to this address begins.',
  },
  remove_suppressions: {
    operationId: 'removeSuppressions',
    summary: 'Remove the suppressions of an address',
    tag: 'outbound',
    about: 'Of all reasons. A repeated report of a provider does not restore them.',
  },
  list_sessions: {
    operationId: 'listSessions',
    summary: 'List sessions, newest first',
    tag: 'agents',
    about: 'With the totals of their runs. Ordered by creation.',
  },
  get_session: {
    operationId: 'getSession',
    summary: 'Read a session',
    tag: 'agents',
    about: 'The totals of its runs, its newest runs as a tree, and its newest runs and dispatches on a timeline.',
  },
  session_timeline: {
    operationId: 'listSessionTimeline',
    summary: 'List the runs and dispatches of a session, oldest first',
    tag: 'agents',
    about: 'Runs and dispatches each keep their order. Empty for an unknown session.',
  },
  session_runs: {
    operationId: 'listSessionRuns',
    summary: 'List the runs of a session',
    tag: 'agents',
    about: `Runs of the session that match all given parameters. ${FEWER}`,
  },
  get_run: {
    operationId: 'getRun',
    summary: 'Read a run',
    tag: 'agents',
    about: 'Two sessions may have runs of the same id.',
  },
  list_runs: {
    operationId: 'listRuns',
    summary: 'List runs of all sessions',
    tag: 'agents',
    about: `Runs that match all given parameters. ${FEWER}`,
  },
  list_token_uses: {
    operationId: 'listTokenUses',
    summary: 'List uses of session tokens, newest first',
    tag: 'agents',
    about: 'Uses are kept for a week.',
  },
  list_events: {
    operationId: 'listEvents',
    summary: 'List the events of the catalogue',
    tag: 'outbound',
    about: 'With the channels of each. The catalogue is the same for all tenants.',
  },
  check_budgets: {
    operationId: 'checkBudgets',
    summary: 'Check the budgets of a session or a user',
    tag: 'agents',
    about: 'Takes a `sessionId`, a `userId`, or both. An unknown one has spent nothing.',
  },
  get_statistics: {
    operationId: 'getStatistics',
    summary: 'Read statistics',
    tag: 'outbound',
    about:
      'What all processes did, in buckets of equal length up to now, what is due, and how many workers are alive. Counts of the last seconds may be missing.',
  },
}

const ABOUT: Readonly<Record<ReadParameter, string>> = {
  status: 'Only those with this status.',
  eventType: 'Only those of this event.',
  recipient: 'Only those of this recipient, exactly as in the request.',
  channel: 'Only those of this channel.',
  sessionId: 'Only those of this session.',
  since: 'Only those since this instant.',
  until: 'Only those before this instant.',
  cursor: '`next` of the previous page, unchanged.',
  limit: 'Size of the page.',
  content: 'Adds the rendered content and the masked address of each delivery.',
  reason: 'Only those with this reason.',
  provider: 'Only those of this provider.',
  model: 'Only those with this requested model.',
  userId: 'Only those of this user.',
  tag: 'Only those with this tag.',
  first: 'Order by creation.',
  jti: 'Only those of the token with this id.',
  outcome: 'Only those with this outcome.',
  window:
    'Time until now: a multiple of `step`, at most 1,500 steps. Up to `2d` with steps of minutes, `90d` with steps of hours, `400d` with steps of one day.',
  step: 'Length of a bucket: whole minutes, up to `1d`.',
}

const TEXT: OpenApiSchema = { type: 'string', minLength: 1, maxLength: 2_048 }

const SCHEMAS: Readonly<Record<ParameterKind, OpenApiSchema>> = {
  text: TEXT,
  instant: { type: 'string', description: 'RFC 3339 or epoch milliseconds.' },
  duration: { type: 'string', pattern: '^[0-9]{1,9}[smhd]$', examples: ['1h'] },
  limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 50 },
  flag: { type: 'boolean', default: false },
}

const UNSENT: OpenApiSchema = {
  type: 'string',
  enum: [...UNSENT_REASONS],
  description: 'Reason of a delivery that was not sent; `expired`: its status. With `channel`, one delivery has both.',
}

/** Parameters with few values. */
const CLOSED: Readonly<Partial<Record<ReadParameter, OpenApiSchema>>> = {
  first: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' },
  outcome: { type: 'string', enum: ['accepted', 'refused'] },
}

const MEMBERS: Readonly<Record<ReadMember, OpenApiSchema>> = {
  recipient: { ...TEXT, description: 'Exactly as in dispatches.' },
  channel: TEXT,
  address: { ...TEXT, description: 'A mail address, a phone number, a URL.' },
  addressKey: { ...TEXT, description: 'As in a suppression, where the address is not known.' },
  reason: { type: 'string', enum: [...SUPPRESSION_REASONS], default: 'manual' },
  category: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,256}$', description: 'Default: all events.' },
  expiresInMs: { type: 'integer', minimum: 1, description: 'Milliseconds, up to 20 years. Default: never.' },
}

/** Members that a body must have; each list is one way. */
const REQUIRED: Readonly<Partial<Record<ReadAction, readonly (readonly ReadMember[])[]>>> = {
  find_recipient: [['recipient']],
  find_suppressions: [['address'], ['addressKey']],
  add_suppression: [['channel', 'address']],
  remove_suppressions: [['address'], ['addressKey']],
}

/** The operation of a route of the read API. */
export function readOperation({ action, path, maxBytes, operation }: ReadRoute): OpenApiOperation {
  const { operationId, summary, tag, about } = DESCRIBED[action]
  const isRead = maxBytes === 0
  const headers = headersNamed(isRead ? ['Cache-Control', 'ETag'] : ['Cache-Control'])
  const content = { 'application/json': { schema: READ_ANSWERS[action].json } }
  const unchanged = { description: 'The answer with the entity tag in `If-None-Match` is still the same.', headers }
  return {
    operationId,
    summary,
    description: paragraphs([about], [`Needs an application secret that allows \`${operation}\`.`]),
    tags: [tag],
    parameters: [...pathParameters(path), ...queryParameters(action, tag)],
    ...(!isRead && { requestBody: requestBody(action, maxBytes) }),
    responses: {
      200: { description: isRead ? 'What was found.' : 'What was done.', headers, content },
      ...(isRead && { 304: unchanged }),
      ...readProblems({ hasBody: !isRead, more: MORE_PROBLEMS[action] ?? [] }),
    },
  }
}

/** Problems of some actions only. */
const MORE_PROBLEMS: Readonly<Partial<Record<ReadAction, readonly ProblemCode[]>>> = {
  retry_dispatch: ['directory_unavailable', 'policy_unavailable'],
  get_session: ['session_not_found'],
  session_timeline: ['session_not_found'],
  session_runs: ['session_not_found'],
}

function pathParameters(path: string): readonly OpenApiParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    description: 'The id.',
    required: true as const,
    schema: TEXT,
  }))
}

function queryParameters(action: ReadAction, tag: Described['tag']): readonly OpenApiParameter[] {
  const own: Readonly<Partial<Record<ReadParameter, OpenApiSchema>>> = {
    ...CLOSED,
    status: reference(tag === 'outbound' ? 'DispatchStatus' : 'RunStatus'),
    reason: action === 'list_dispatches' ? UNSENT : reference('SuppressionReason'),
  }
  return READ_PARAMETERS[action].map((name) => ({
    name,
    in: 'query' as const,
    description: ABOUT[name],
    schema: own[name] ?? SCHEMAS[kindOf(name)],
  }))
}

function requestBody(action: ReadAction, maxBytes: number): OpenApiRequestBody {
  const names = READ_MEMBERS[action] ?? []
  const ways = REQUIRED[action]?.map((required) => ({ required: [...required] })) ?? []
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, MEMBERS[name]])),
    ...(ways.length > 1 ? { oneOf: ways } : ways[0]),
    additionalProperties: false,
  }
  return {
    description: `At most ${maxBytes.toLocaleString('en')} bytes of JSON in UTF-8. Unknown members are refused.`,
    required: ways.length > 0,
    content: { 'application/json': { schema } },
  }
}
