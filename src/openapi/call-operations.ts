import { type CallAction, pathParameters } from '../core/actions/call-action.ts'
import { MAX_LIMIT, type ParameterKind } from '../core/actions/call-input.ts'
import type { ProblemCode } from '../errors.ts'
import { SUPPRESSION_REASONS } from '../model/suppression.ts'
import type { BodySchema } from './model-schema.ts'
import type { OpenApiOperation, OpenApiParameter, OpenApiRequestBody, OpenApiSchema } from './open-api-document.ts'
import { paragraphs } from './paragraphs.ts'
import { headersNamed } from './parameters-and-headers.ts'
import { callProblems } from './problems.ts'

/** Texts and answer of an action that is a call of a service. */
export interface CallDescription {
  readonly operationId: string
  readonly summary: string
  readonly tag: 'outbound' | 'agents'
  readonly about: string
  /** Texts and schemas of its parameters and members, where they differ from those of other actions or no other has them. */
  readonly fields?: Readonly<Record<string, { readonly about?: string; readonly schema?: OpenApiSchema }>>
  /** Members that a body must have; each list is one way. */
  readonly required?: readonly (readonly string[])[]
  /** Problems of some actions only. */
  readonly problems?: readonly ProblemCode[]
  /** The body of its answer. */
  readonly answer: BodySchema
}

const ABOUT: Readonly<Record<string, string>> = {
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

/** Parameters with few values. */
const CLOSED: Readonly<Record<string, OpenApiSchema>> = {
  first: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' },
  outcome: { type: 'string', enum: ['accepted', 'refused'] },
}

const MEMBERS: Readonly<Record<string, OpenApiSchema>> = {
  recipient: { ...TEXT, description: 'Exactly as in dispatches.' },
  channel: TEXT,
  address: { ...TEXT, description: 'A mail address, a phone number, a URL.' },
  addressKey: { ...TEXT, description: 'As in a suppression, where the address is not known.' },
  reason: { type: 'string', enum: [...SUPPRESSION_REASONS], default: 'manual' },
  category: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,256}$', description: 'Default: all events.' },
  expiresInMs: { type: 'integer', minimum: 1, description: 'Milliseconds, up to 20 years. Default: never.' },
}

/** The operation of an action that is a call of a service. */
export function callOperation(action: CallAction, description: CallDescription): OpenApiOperation {
  const { maxBytes, operation, missing = ['not_found'] } = action
  const { operationId, summary, tag, about, problems = [], answer } = description
  const isRead = maxBytes === 0
  const headers = headersNamed(isRead ? ['Cache-Control', 'ETag'] : ['Cache-Control'])
  const content = { 'application/json': { schema: answer.json } }
  const unchanged = { description: 'The answer with the entity tag in `If-None-Match` is still the same.', headers }
  const more = missing[0] === 'not_found' ? problems : [...problems, missing[0]]
  return {
    operationId,
    summary,
    description: paragraphs([about], [`Needs an application secret that allows \`${operation}\`.`]),
    tags: [tag],
    parameters: [...pathParameters(action).map(pathParameter), ...queryParameters(action, description)],
    ...(!isRead && { requestBody: requestBody(action, description) }),
    responses: {
      200: { description: isRead ? 'What was found.' : 'What was done.', headers, content },
      ...(isRead && { 304: unchanged }),
      ...callProblems({ hasBody: !isRead, more }),
    },
  }
}

function pathParameter(name: string): OpenApiParameter {
  return { name, in: 'path', description: 'The id.', required: true, schema: TEXT }
}

function queryParameters({ query = {} }: CallAction, { fields = {} }: CallDescription): readonly OpenApiParameter[] {
  return Object.entries(query).map(([name, kind]) => ({
    name,
    in: 'query' as const,
    description: fields[name]?.about ?? ABOUT[name] ?? '',
    schema: fields[name]?.schema ?? CLOSED[name] ?? SCHEMAS[kind],
  }))
}

function requestBody(
  { body = [], maxBytes }: CallAction,
  { fields = {}, required = [] }: CallDescription,
): OpenApiRequestBody {
  const ways = required.map((names) => ({ required: [...names] }))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(body.map((name) => [name, fields[name]?.schema ?? MEMBERS[name] ?? TEXT])),
    ...(ways.length > 1 ? { oneOf: ways } : ways[0]),
    additionalProperties: false,
  }
  return {
    description: `At most ${maxBytes.toLocaleString('en')} bytes of JSON in UTF-8. Unknown members are refused.`,
    required: ways.length > 0,
    content: { 'application/json': { schema } },
  }
}
