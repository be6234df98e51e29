import type { CallerCode } from '../../src/errors.ts'
import type { RateLimiter } from '../../src/ports/rate-limiter.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { advanceUntil } from '../support/advance-until.ts'
import { GRANT, testAuth } from '../support/deps.ts'
import { type ExampleHost, exampleHost } from './host.ts'
import { ALL_POSTS, type Post, type PostName, pathOf, post, requestTo } from './posting.ts'

const event = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }
const run = { sessionId: 's1', run: { runId: 'run_1', attempt: 1, tags: ['support'] } }

/** A valid body for each endpoint. */
const GOOD: Readonly<Record<PostName, object>> = {
  dispatch: event,
  session_run: run,
  session_run_batch: { runs: [run] },
  session_token: { grants: {} },
}

const INVALID: Readonly<Record<PostName, object>> = {
  dispatch: { eventType: 'order.shipped' },
  session_run: { sessionId: 's1', run: { runId: 'run_1', counts: { steps: -1 } } },
  session_run_batch: { runs: [] },
  session_token: {},
}

const down = async (): Promise<never> => {
  throw new Error('it is down')
}

const ONCE = {
  id: 'token_1',
  tenant: 'default',
  sessionId: 's1',
  dispatch: { events: ['order.shipped'], channels: ['email', 'sms'], recipients: ['user_42'], maxDispatches: 1 },
}

const SIXTY: RateLimiter = {
  consume: async () => ({ allowed: true, limit: 60, remaining: 59, windowMs: 60_000, resetMs: 60_000 }),
}
/** A batch beyond that limit. */
const LONG = { runs: Array.from({ length: 61 }, () => run) }

const SPENT = { allowed: false, limit: 100, remaining: 0, windowMs: 60_000, resetMs: 12_000 }

/** Real requests to real hosts that provoke each code. */
export const PROVOKE: Readonly<
  Record<Exclude<CallerCode, `approval_${string}`>, (action: PostName) => Promise<Response>>
> = {
  invalid_json: (action) => send(action, { body: '{' }),
  query_invalid: (action) => post(exampleHost(), `${pathOf(action)}?limit=1`, GOOD[action]),
  idempotency_key_invalid: (action) => good(action, { headers: { 'idempotency-key': 'a b' } }),
  unauthorized: (action) => good(action, { token: undefined }),
  invalid_token: (action) => good(action, { token: 'stranger' }),
  insufficient_scope: (action) => outOfScope(action),
  grant_spent: (action) => twice(action, event, {}, exampleHost({ auth: { verify: async () => ONCE } })),
  not_found: (action) => exampleHost().fetch(requestTo(`${pathOf(action)}/more`)),
  session_not_found: (action) => good(action, {}, exampleHost({ sessions: 'must-exist' })),
  method_not_allowed: (action) => send(action, { method: 'GET' }),
  body_timeout: (action) => tooSlow(action),
  run_identity_conflict: (action) => twice(action, { ...run, run: { ...run.run, attempt: 2 } }),
  body_too_large: (action) => send(action, { body: 'x'.repeat(limitOf(action) + 1) }),
  batch_too_large: (action) =>
    post(exampleHost(action === 'session_run_batch' ? { rateLimiter: SIXTY } : {}), pathOf(action), LONG),
  unsupported_media_type: (action) => good(action, { headers: { 'content-type': 'text/plain' } }),
  validation_failed: (action) => post(exampleHost(), pathOf(action), INVALID[action], tokenFor(action)),
  event_unknown: (action) => post(exampleHost(), pathOf(action), { ...event, eventType: 'order.shiped' }),
  channel_unknown: (action) => post(exampleHost(), pathOf(action), { ...event, channel: 'mail' }),
  channel_not_allowed: (action) => post(exampleHost(), pathOf(action), { ...event, channel: 'push' }),
  recipient_unresolvable: (action) => post(exampleHost(), pathOf(action), { ...event, recipient: 'user_1' }),
  template_data_missing: (action) =>
    post(exampleHost(), pathOf(action), { eventType: 'shop.closed', recipient: 'user_42' }),
  idempotency_key_reused: (action) => twice(action, { ...event, sessionId: 's1' }, { 'idempotency-key': 'k1' }),
  rate_limited: (action) => good(action, {}, exampleHost({ rateLimiter: { consume: async () => SPENT } })),
  internal_error: (action) =>
    good(action, {}, exampleHost({ auth: { ...testAuth, verify: async () => ({ id: 'test', tenant: '' }) } })),
  body_already_consumed: (action) => consumed(action),
  store_unavailable: (action) =>
    good(action, { token: 'granted' }, exampleHost({ store: { ...memoryStore(), listRevocations: down } })),
  directory_unavailable: (action) => post(exampleHost(), pathOf(action), { ...event, recipient: 'user_broken' }),
  policy_unavailable: (action) => good(action, {}, exampleHost({ policy: { decide: down } })),
  guard_unavailable: (action) =>
    good(action, {}, exampleHost({ plugins: [{ name: 'broken', setup: () => ({ guard: { check: down } }) }] })),
  redactor_unavailable: (action) => good(action, {}, exampleHost({ redactor: { redact: down } })),
  auth_unavailable: (action) => good(action, { token: 'broken' }),
  rate_limiter_unavailable: (action) => good(action, {}, exampleHost({ rateLimiter: { consume: down } })),
  overloaded: (action) => crowded(action),
}

function send(action: PostName, more: Post, host: ExampleHost = exampleHost()): Promise<Response> {
  return host.fetch(requestTo(pathOf(action), more))
}

function good(action: PostName, more: Post, host: ExampleHost = exampleHost()): Promise<Response> {
  return post(host, pathOf(action), GOOD[action], { ...tokenFor(action), ...more })
}

/** Only a session token can be exchanged. */
function tokenFor(action: PostName): Post {
  return action === 'session_token' ? { token: 'session' } : {}
}

function limitOf(action: PostName): number {
  return ALL_POSTS.find(({ name }) => name === action)?.maxBytes ?? 0
}

async function twice(
  action: PostName,
  second: object,
  headers: Record<string, string> = {},
  host: ExampleHost = exampleHost(),
): Promise<Response> {
  await post(host, pathOf(action), GOOD[action], { headers })
  return post(host, pathOf(action), second, { headers })
}

function outOfScope(action: PostName): Promise<Response> {
  switch (action) {
    case 'dispatch':
      return good(action, { token: 'granted' })
    case 'session_run':
      return post(exampleHost(), pathOf(action), { ...run, sessionId: 's2' }, { token: 'session' })
    case 'session_token':
      return post(exampleHost(), pathOf(action), { grants: { dispatch: GRANT } }, { token: 'session' })
    case 'session_run_batch':
      return good(action, {}, exampleHost({ auth: { verify: async () => ({ refused: 'insufficient_scope' }) } }))
  }
}

/** Sends a body that never ends, and advances the clock past the time-out. */
async function tooSlow(action: PostName): Promise<Response> {
  const host = exampleHost()
  const answer = host.fetch(requestTo(pathOf(action), { ...tokenFor(action), body: new ReadableStream() }))
  const { result: refused } = await advanceUntil(answer, host.clock)
  // The answer ends a second later.
  host.clock.advance(1_000)
  return refused
}

/** Sends a request to a host whose only place for an unfinished request is taken. */
function crowded(action: PostName): Promise<Response> {
  const host = exampleHost({ maxUnfinished: 1 })
  void host.fetch(requestTo(pathOf(action), { ...tokenFor(action), body: new ReadableStream() }))
  return good(action, {}, host)
}

async function consumed(action: PostName): Promise<Response> {
  const request = requestTo(pathOf(action), { body: JSON.stringify(GOOD[action]) })
  await request.text()
  return exampleHost().fetch(request)
}
