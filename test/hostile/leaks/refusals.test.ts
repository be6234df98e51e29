import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { port } from '../../../src/core/answers/fault.ts'
import { refuse } from '../../../src/core/answers/result.ts'
import type { OpenAction, OpenHandler } from '../../../src/core/endpoints.ts'
import type { ProblemCode } from '../../../src/errors.ts'
import { type Bodies, bodiesOf, fetched } from './refused-bodies.ts'
import { type Answer, openTestApp, type RequestParts, type TestApp, type TestAppOptions } from './test-app.ts'
import { THROWN } from './thrown.ts'

/** Makes a host refuse a request that is full of secrets. */
interface Refusal {
  readonly options?: TestAppOptions
  readonly provoke: (app: TestApp, body: Bodies) => Promise<Answer>
}

const OPEN = {
  ...{ name: 'opened', methods: ['POST'], path: '/api/opened/', parameter: '{name}' },
  ...{ maxBytes: 65_536, accepts: 'bytes' },
} satisfies Omit<OpenAction, 'find'>

const failed = (part: string, action: 'dispatch' | 'session_run' = 'dispatch'): Refusal => ({
  async provoke(app, { dispatch, run, headers }) {
    app.faults.set(part, THROWN['an error that holds it everywhere']?.(app.canaries.word('error of a port')))
    return app.post(action, { body: action === 'dispatch' ? dispatch : run, headers })
  },
})

/** An open endpoint of a plugin that refuses. */
const refusedOpenly = (handle: OpenHandler): Refusal => ({
  options: {
    plugins: [
      {
        name: 'opening',
        setup: () => ({ open: [{ ...OPEN, find: () => ({ handle }) }] }),
      },
    ],
  },
  provoke: (app, bodies) => fetched(app, `${OPEN.path}own`, bodies, false),
})

const dispatched = (more: (bodies: Bodies) => object): Refusal => ({
  provoke: (app, bodies) =>
    app.post('dispatch', { body: { ...bodies.dispatch, ...more(bodies) }, headers: bodies.headers }),
})

const sending = (more: (bodies: Bodies) => RequestParts): Refusal => ({
  provoke: (app, bodies) => app.post('dispatch', { body: bodies.dispatch, headers: bodies.headers, ...more(bodies) }),
})

const SPENT = { allowed: false, limit: 100, remaining: 0, windowMs: 60_000, resetMs: 12_000 }

const REFUSALS: Readonly<Record<Exclude<ProblemCode, `approval_${string}`>, Refusal>> = {
  invalid_json: sending(({ data }) => ({ text: `{ "recipient": "${data}", "${data}` })),
  query_invalid: sending(({ data }) => ({ query: `?${encodeURIComponent(data)}=${encodeURIComponent(data)}` })),
  idempotency_key_invalid: sending(({ headers }) => ({
    headers: { 'idempotency-key': `"${headers['idempotency-key']} b"` },
  })),
  unauthorized: sending(() => ({ token: null })),
  invalid_token: {
    provoke: (app, { dispatch }) => app.post('dispatch', { token: `${app.secret}x`, body: dispatch }),
  },
  proof_invalid: refusedOpenly(async () => refuse('proof_invalid', 'The request has no valid proof.')),
  insufficient_scope: {
    provoke: (app, { dispatch }) => app.post('dispatch', { token: app.sessionToken, body: dispatch }),
  },
  grant_spent: { provoke: spendGrant },
  not_found: { provoke: (app, bodies) => fetched(app, `/v1/api/outbound/${bodies.data}`, bodies, false) },
  session_not_found: {
    options: { rest: { sessions: 'must-exist' } },
    provoke: (app, { run }) => app.post('session_run', { body: run }),
  },
  method_not_allowed: sending(() => ({ method: 'PUT' })),
  body_timeout: { provoke: tooSlow },
  run_identity_conflict: {
    async provoke(app, { run, content }) {
      await app.post('session_run', { body: { ...run, run: { ...run.run, parentRunId: `q${content}` } } })
      return app.post('session_run', { body: { ...run, run: { ...run.run, parentRunId: `p${content}` } } })
    },
  },
  body_too_large: sending(({ data }) => ({ text: data.repeat(20_000) })),
  batch_too_large: {
    options: { rest: { rateLimiter: { consume: async () => ({ ...SPENT, allowed: true, limit: 1 }) } } },
    provoke: (app, { run }) => app.post('session_run_batch', { body: { runs: [run, run] } }),
  },
  unsupported_media_type: sending(({ data }) => ({ headers: { 'content-type': `text/${data}` } })),
  validation_failed: dispatched(({ key, data }) => ({ eventData: { note: 7, [key]: data, more: { [key]: '\0' } } })),
  event_unknown: dispatched(({ data }) => ({ eventType: `order.${data}` })),
  channel_unknown: dispatched(({ data }) => ({ channel: `email.${data}` })),
  channel_not_allowed: dispatched(() => ({ eventType: 'digested', channel: 'any' })),
  recipient_unresolvable: dispatched(({ recipient }) => ({ recipient: `<${recipient}@example.com>, b@example.com` })),
  template_data_missing: dispatched(({ data }) => ({ eventType: 'missing', eventData: { key: data, list: {} } })),
  idempotency_key_reused: {
    async provoke(app, { dispatch, headers, data }) {
      await app.post('dispatch', { body: dispatch, headers })
      return app.post('dispatch', { body: { ...dispatch, eventData: { note: `other ${data}` } }, headers })
    },
  },
  rate_limited: {
    options: { rest: { rateLimiter: { consume: async ({ scope }) => (scope === 'recipient' ? SPENT : undefined) } } },
    provoke: (app, { dispatch }) => app.post('dispatch', { body: dispatch }),
  },
  internal_error: {
    options: { rest: { auth: { verify: async (token) => ({ id: token, tenant: `${token} `, userId: token }) } } },
    provoke: (app, { dispatch }) => app.post('dispatch', { body: dispatch }),
  },
  body_already_consumed: { provoke: (app, bodies) => fetched(app, '/api/outbound/dispatch', bodies, true) },
  store_unavailable: failed('store'),
  directory_unavailable: failed('recipients'),
  policy_unavailable: failed('policy'),
  guard_unavailable: failed('guard'),
  redactor_unavailable: failed('redactor', 'session_run'),
  auth_unavailable: failed('auth'),
  rate_limiter_unavailable: failed('rateLimiter'),
  feedback_unavailable: refusedOpenly(() =>
    port('feedback_unavailable', async () => {
      throw new Error('the certificate cannot be fetched')
    }),
  ),
  overloaded: { options: { rest: { maxUnfinished: 1 } }, provoke: crowd },
}

async function spendGrant(app: TestApp, { headers, eventData }: Bodies): Promise<Answer> {
  const body = { eventType: 'order', recipient: `u-${app.userId}`, eventData }
  const send = (key: string): Promise<Answer> =>
    app.post('dispatch', { token: app.sessionToken, body, headers: { 'idempotency-key': key } })
  for (const key of [headers['idempotency-key'], 'b']) expect((await send(key)).status).toBe(202)
  return send('c')
}

/** A body without an end. */
function endless(data: string): ReadableStream {
  return new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(`{"${data}":`)) })
}

/** Advances the clock once the host waits for the body. */
async function tooSlow(app: TestApp, { data }: Bodies): Promise<Answer> {
  const answer = app.post('dispatch', { text: endless(data) })
  await isWaitedFor(app)
  app.clock.advance(11_000)
  return answer
}

/** Sends two slow bodies to a host with room for one. */
async function crowd(app: TestApp, { data }: Bodies): Promise<Answer> {
  const first = app.post('dispatch', { text: endless(data) })
  await isWaitedFor(app)
  const answer = await app.post('dispatch', { text: endless(data) })
  app.clock.advance(11_000)
  await first
  return answer
}

async function isWaitedFor({ clock }: TestApp): Promise<void> {
  while (clock.timers === 0) await setImmediate()
}

describe('a refusal', () => {
  it.each(Object.keys(REFUSALS) as (keyof typeof REFUSALS)[])('The refusal %s shows no secret', async (code) => {
    const { options, provoke } = REFUSALS[code]
    const app = await openTestApp(options)
    const answer = await provoke(app, bodiesOf(app))
    expect(answer.body.code ?? answer.status).toBe(code)
  })
})
