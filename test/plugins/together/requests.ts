import { readFileSync } from 'node:fs'
import { type Chance, chance } from '../../labs/chaos/chance.ts'

/** A request to one of the hosts. */
export interface Sent {
  readonly host: 'full' | 'bare' | 'runs' | 'console'
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly token: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Absent: no body. */
  readonly body?: string
}

/** Ids of earlier answers, and cursors. */
export interface Known {
  readonly dispatches: string[]
  readonly cursors: string[]
  readonly tags: string[]
  /** The last read, with the entity tag of its answer. */
  again?: Sent
}

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: Readonly<Record<string, unknown>> } }>
    >
  }
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[]
}
interface Described {
  readonly paths: Readonly<Record<string, { readonly get?: Operation; readonly post?: Operation }>>
}

const DOCUMENT: Described = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))

/** The paths that requests are drawn from, in this order: another one changes most of the recorded answers. */
const RECORDED: readonly string[] = [
  '/api/outbound/dispatch',
  '/api/agents/session/run',
  '/api/agents/session/run/batch',
  '/api/agents/session/token',
  '/api/outbound/dispatches',
  '/api/outbound/dispatches/{dispatchId}',
  '/api/outbound/dispatches/{dispatchId}/cancel',
  '/api/outbound/dispatches/{dispatchId}/retry',
  '/api/outbound/recipients/find',
  '/api/outbound/suppressions',
  '/api/outbound/suppressions/find',
  '/api/outbound/suppressions/add',
  '/api/outbound/suppressions/remove',
  '/api/agents/sessions',
  '/api/agents/sessions/{sessionId}',
  '/api/agents/sessions/{sessionId}/timeline',
  '/api/agents/sessions/{sessionId}/runs',
  '/api/agents/sessions/{sessionId}/runs/{runId}',
  '/api/agents/runs',
  '/api/agents/tokens/uses',
  '/api/outbound/stats',
  '/api/outbound/events',
  '/api/agents/budgets',
]

/** Each path with its query parameters and members of its body, from the document. */
const ENDPOINTS = RECORDED.map((path) => [path, DOCUMENT.paths[path] ?? {}] as const).map(([path, { get, post }]) => ({
  path,
  method: get ? 'GET' : 'POST',
  members: Object.keys(post?.requestBody?.content['application/json']?.schema.properties ?? {}),
  parameters: ((get ?? post)?.parameters ?? []).flatMap((each) => (each.in === 'query' && each.name) || []),
}))

const POSTS: Readonly<Record<string, readonly object[]>> = {
  '/api/outbound/dispatch': [
    { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 120 } },
    { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-2', total: 20 }, sessionId: 's1' },
    { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { orderId: 'A-3', total: 20 } },
    { eventType: 'order.shipped', recipient: 'user_1', eventData: { orderId: 'A-1', total: 20 } },
    { eventType: 'order.shiped', recipient: 'user_42' },
    { eventType: 'shop.closed', recipient: 'user_42' },
    { eventType: 'shop.closed', recipient: 'user_42', channel: 'mail' },
    { eventType: 'order.shipped', recipient: 'user_42', channel: 'email', eventData: { orderId: 1 } },
    { eventType: 'order.shipped', recipient: 'user_broken', eventData: { orderId: 'A-1', total: 20 } },
    { recipient: 7, sendAt: 'soon', __proto: 1 },
  ],
  '/api/agents/session/run': [
    { sessionId: 's1', run: { runId: 'r1', seq: 1, status: 'running', provider: 'openai', model: 'gpt-5' } },
    {
      sessionId: 's1',
      run: { runId: 'r1', seq: 2, status: 'completed', counts: { inputTokens: 10, outputTokens: 2 } },
    },
    { sessionId: 's1', run: { runId: 'r1', attempt: 2, status: 'running' } },
    { sessionId: 's2', run: { runId: 'r2', parentRunId: 'r1', tags: ['a', 'b'], userId: 'user_42' } },
    { sessionId: 's2', run: { runId: 'r3', status: 'failed', error: { type: 'timeout', message: 'too slow' } } },
    { sessionId: 's3', run: { runId: 'r1', usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } } },
    { sessionId: '', run: { counts: { steps: -1 }, cost: { amount: 1 } } },
  ],
  '/api/agents/session/run/batch': [
    { runs: [{ sessionId: 's4', run: { runId: 'r1' } }, 1, { sessionId: 's1', run: { runId: 'r1', attempt: 3 } }] },
    { runs: [] },
    { runs: Array.from({ length: 101 }, () => ({})) },
  ],
  '/api/agents/session/token': [
    { grants: {} },
    { grants: { dispatch: { events: ['order.shipped'], channels: ['email'], recipients: ['jane@example.com'] } } },
    { grants: {}, expiresInMs: 60_000, runId: 'r1' },
    { grants: { more: 1 }, expiresInMs: -1 },
    {},
  ],
}

/** Endpoints of {@link POSTS}. */
const WRITING = ENDPOINTS.filter(({ path }) => POSTS[path] !== undefined)

const MEMBERS: Readonly<Record<string, readonly unknown[]>> = {
  recipient: ['user_42', 'ada@example.com', 7, ''],
  address: ['ada@example.com', '+4915112345678', 'x', null, {}],
  addressKey: ['k1.abc', 'nonsense', 1],
  channel: ['email', 'sms', 'fax', ''],
  reason: ['manual', 'bounced', 'bored'],
  category: ['order.shipped', 'a b'],
  expiresInMs: [1_000, 0, '1000'],
  unknown: [1],
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: ['queued', 'completed', 'running', 'failed', 'bored', ''],
  eventType: ['order.shipped', 'none'],
  recipient: ['user_42', 'ada@example.com'],
  channel: ['email', 'sms', 'fax'],
  reason: ['condition_false', 'bounced', 'expired', 'bored'],
  sessionId: ['s1', 's2', 's9', ''],
  since: ['2026-11-21T00:00:00Z', '1795244400000', 'yesterday'],
  until: ['2026-11-22T00:00:00Z', '2026-13-01'],
  limit: ['1', '2', '200', '0', '201', 'x'],
  first: ['newest', 'oldest', 'none'],
  jti: ['session', 'granted', 'exchanged'],
  outcome: ['accepted', 'refused', 'other'],
  window: ['1h', '2d', '90d', '1x'],
  step: ['1m', '15m', '1h', '0m'],
  tag: ['a', 'none'],
  provider: ['openai'],
  model: ['gpt-5'],
  userId: ['user_42'],
  content: ['true', 'false', 'yes'],
  dryRun: ['true', 'false', 'maybe'],
}

/** Each token is as likely as it is often. */
const TOKENS = [
  ...Array.from({ length: 20 }, () => 'app'),
  'session',
  'session',
  'session',
  'granted',
  'granted',
  'other',
  'stranger',
  'broken',
  undefined,
]
const HOSTS = ['full', 'full', 'full', 'full', 'console', 'bare', 'runs'] as const
const OTHER_METHODS = ['PUT', 'DELETE', 'HEAD', 'POST', 'GET', 'OPTIONS']
const OTHER_PATHS = [
  '/api/outbound/feedback/postmark',
  '/api/outbound/feedback/none',
  '/api/outbound/unsubscribe/abc',
  '/api/outbound/dispatches/',
  '/api/outbound',
  '/api/agents/sessions/s1/',
  '/api/agents/nothing',
  '/outbound/dispatch',
  '/v1/api/outbound/dispatch',
  '/health',
]

/** Makes the request of a number, from earlier answers. */
export function requestsFrom(seed: number): (known: Known) => Sent {
  const dice = chance(seed)
  return (known) => {
    if (known.again && dice.next() < 0.03) return known.again
    const host = dice.of(HOSTS)
    const token = dice.of(TOKENS)
    if (dice.next() < 0.05) return { host, ...other(dice), token, headers: { 'content-type': 'application/json' } }
    const { path, method, parameters, members } = dice.of(dice.next() < 0.3 ? WRITING : ENDPOINTS)
    const url = pathOf(path, known, dice) + queryOf(parameters, known, dice)
    const sent = { host, method: dice.next() < 0.05 ? dice.of(OTHER_METHODS) : method, url, token }
    const headers = headersOf(method, dice)
    return method === 'GET' ? { ...sent, headers } : { ...sent, headers, body: bodyOf(path, members, dice) }
  }
}

function other(dice: Chance): Pick<Sent, 'method' | 'url' | 'body'> {
  const method = dice.of(['GET', 'POST'])
  const url = dice.of(OTHER_PATHS)
  return method === 'GET' ? { method, url } : { method, url, body: dice.of(['{}', 'List-Unsubscribe=One-Click', '']) }
}

function pathOf(path: string, { dispatches }: Known, dice: Chance): string {
  return path
    .replace('{dispatchId}', () => dice.of([...dispatches.slice(-5), 'dsp_none', 'a%20b', 'x'.repeat(300)]))
    .replace('{sessionId}', () => dice.of(['s1', 's2', 's3', 's9', '%00', 'x'.repeat(300)]))
    .replace('{runId}', () => dice.of(['r1', 'r2', 'r9', '%zz']))
}

function queryOf(parameters: readonly string[], { cursors }: Known, dice: Chance): string {
  const query = new URLSearchParams()
  for (const name of parameters) {
    if (dice.next() > 0.2) continue
    const values = name === 'cursor' ? [...cursors.slice(-1), 'nonsense'] : (VALUES[name] ?? ['x'])
    query.append(name, mostlyFirst(values, dice))
    if (dice.next() < 0.03) query.append(name, dice.of(values))
  }
  if (dice.next() < 0.03) query.set('unknown', '1')
  const text = query.toString()
  return text && `?${text}`
}

function headersOf(method: string, dice: Chance): Readonly<Record<string, string>> {
  if (method === 'GET') return dice.next() < 0.05 ? { 'if-none-match': 'W/"x"' } : {}
  const type = dice.next() < 0.95 ? 'application/json' : 'text/plain'
  return {
    'content-type': type,
    ...(dice.next() < 0.1 && { 'idempotency-key': dice.of(['k1', 'k2', 'a b']) }),
    ...(dice.next() < 0.1 && { prefer: 'return=minimal' }),
  }
}

function bodyOf(path: string, members: readonly string[], dice: Chance): string {
  if (dice.next() < 0.03) return dice.of(['{', '[]', '1', '', '{"a":{"__proto__":1}}'])
  const posts = POSTS[path]
  if (posts) return JSON.stringify(dice.of(posts))
  const sent = Object.entries(MEMBERS).filter(([name]) => dice.next() < (members.includes(name) ? 0.6 : 0.01))
  return JSON.stringify(Object.fromEntries(sent.map(([name, values]) => [name, mostlyFirst(values, dice)])))
}

/** The first value, which is right, or any. */
function mostlyFirst<T>(values: readonly T[], dice: Chance): T {
  return dice.next() < 0.7 ? (values[0] as T) : dice.of(values)
}
