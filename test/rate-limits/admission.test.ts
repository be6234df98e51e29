import { RateLimiterMemory } from 'rate-limiter-flexible'
import { describe, expect, it } from 'vitest'
import type { SallyportOptions } from '../../src/compose/options.ts'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../../src/ports/rate-limiter.ts'
import { rateLimits } from '../../src/rate-limits/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type ExampleHost, exampleHost } from '../openapi/host.ts'
import { jsonOf, type Post, post, requestTo } from '../openapi/posting.ts'
import { recordingLogger } from '../support/deps.ts'

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'
const BATCH = `${RUN}/batch`
const EVENT = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }
const POST = { sessionId: 's1', run: { runId: 'r1' } }

const LEFT: RateLimitState = { allowed: true, limit: 10, remaining: 9, windowMs: 60_000, resetMs: 41_500 }
const SPENT: RateLimitState = { ...LEFT, allowed: false, remaining: 0 }

/** Returns one state per scope, and records the subjects. */
function limiter(states: Partial<Record<RateLimitSubject['scope'], RateLimitState>>) {
  const asked: RateLimitSubject[] = []
  const consume: RateLimiter['consume'] = async (subject) => {
    asked.push(subject)
    return states[subject.scope]
  }
  return { consume, asked }
}

const PIECE = 16_384

/** An endless body that counts the bytes read from it. */
function watchedBody() {
  let bytes = 0
  let isCancelled = false
  const body = new ReadableStream(
    {
      pull(controller) {
        bytes += PIECE
        controller.enqueue(new Uint8Array(PIECE))
      },
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, bytes: () => bytes, isCancelled: () => isCancelled }
}

/** Expects that little of the refused body was read, and that it is cancelled a second later. */
async function expectRefused({ bytes, isCancelled }: ReturnType<typeof watchedBody>, { clock }: ExampleHost) {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(bytes()).toBeLessThanOrEqual(65_536 + PIECE)
  expect(isCancelled()).toBe(false)
  clock.advance(1_000)
  await new Promise(setImmediate)
  expect(isCancelled()).toBe(true)
}

function limitsOf({ headers }: Response): (string | null)[] {
  return [headers.get('ratelimit-policy'), headers.get('ratelimit')]
}

describe('a rate limiter of requests', () => {
  it('The rate limiter is asked for the token, the tenant and then the recipient', async () => {
    const rateLimiter = limiter({ token: LEFT, tenant: LEFT, recipient: LEFT })
    const answer = await post(exampleHost({ rateLimiter }), DISPATCH, EVENT)
    expect(answer.status).toBe(202)
    expect(rateLimiter.asked).toEqual([
      { scope: 'token', tenant: 'default', id: 'app', operation: 'dispatch' },
      { scope: 'tenant', tenant: 'default', id: 'default', operation: 'dispatch' },
      { scope: 'recipient', tenant: 'default', id: 'user_42', operation: 'dispatch' },
    ])
  })

  it('Every answer reports what is left for the token and the tenant, but not for the recipient', async () => {
    const rateLimiter = limiter({ token: LEFT, tenant: { ...LEFT, limit: 500, remaining: 17 }, recipient: LEFT })
    const host = exampleHost({ rateLimiter })
    const reported = ['"token";q=10;w=60, "tenant";q=500;w=60', '"token";r=9;t=42, "tenant";r=17;t=42']
    expect(limitsOf(await post(host, DISPATCH, EVENT))).toEqual(reported)
    expect(limitsOf(await post(host, RUN, POST))).toEqual(reported)
    expect(limitsOf(await post(host, DISPATCH, {}))).toEqual(reported)
    expect(limitsOf(await host.fetch(requestTo(DISPATCH, { body: '{' })))).toEqual(reported)
    expect(limitsOf(await post(host, RUN, POST, { headers: { 'content-type': 'text/plain' } }))).toEqual(reported)
  })

  it('Answers have no rate-limit headers without limits', async () => {
    expect(limitsOf(await post(exampleHost(), DISPATCH, EVENT))).toEqual([null, null])
    expect(limitsOf(await post(exampleHost({ rateLimiter: limiter({}) }), DISPATCH, EVENT))).toEqual([null, null])
  })

  it.each<[RateLimitSubject['scope'], readonly string[]]>([
    ['token', ['token']],
    ['tenant', ['token', 'tenant']],
    ['recipient', ['token', 'tenant', 'recipient']],
  ])('A dispatch is refused when the limit of the %s is spent, and stores nothing', async (scope, asked) => {
    const rateLimiter = limiter({ [scope]: SPENT })
    const host = exampleHost({ rateLimiter })
    const answer = await post(host, DISPATCH, EVENT)
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('42')
    expect(limitsOf(answer)).toEqual([`"${scope}";q=10;w=60`, `"${scope}";r=0;t=42`])
    const problem = await jsonOf(answer)
    expect(problem).toMatchObject({
      code: 'rate_limited',
      detail: `Too many requests of this ${scope}. Try again in 42 s.`,
    })
    expect(JSON.stringify(problem)).not.toContain('user_42')
    expect(rateLimiter.asked.map((subject) => subject.scope)).toEqual(asked)
    expect((await host.sallyport.dispatches.list()).items).toEqual([])
  })

  it('The recipient limit is not counted for forbidden or invalid dispatches and dry runs', async () => {
    const rateLimiter = limiter({ recipient: SPENT })
    const host = exampleHost({ rateLimiter })
    const refused: [unknown, Post][] = [
      [EVENT, { token: 'granted' }],
      [EVENT, { token: 'session' }],
      [{ ...EVENT, eventType: 'order.lost' }, {}],
      [{ recipient: 'user_42' }, {}],
    ]
    for (const [body, more] of refused) expect((await post(host, DISPATCH, body, more)).status).not.toBe(429)
    expect((await post(host, `${DISPATCH}?dryRun=true`, EVENT)).status).toBe(200)
    expect(rateLimiter.asked.filter(({ scope }) => scope === 'recipient')).toEqual([])
  })

  it('The recipient limit counts repeats of one idempotency key once', async () => {
    const rateLimiter = limiter({ recipient: LEFT })
    const host = exampleHost({ rateLimiter })
    const more = { headers: { 'idempotency-key': 'k1' } }
    for (let at = 0; at < 3; at++) expect((await post(host, DISPATCH, EVENT, more)).status).toBe(202)
    expect(rateLimiter.asked.filter(({ scope }) => scope === 'recipient')).toHaveLength(1)
  })

  it('The rate limiter is not asked for unauthenticated requests or dispatches of the host', async () => {
    const rateLimiter = limiter({ token: SPENT, tenant: SPENT, recipient: SPENT })
    const host = exampleHost({ rateLimiter })
    expect((await post(host, DISPATCH, EVENT, { token: 'stranger' })).status).toBe(401)
    expect((await host.sallyport.dispatch(EVENT as never)).status).toBe(202)
    expect(rateLimiter.asked).toEqual([])
  })

  it('A rate-limited request has at most a small part of its body read', async () => {
    const watched = watchedBody()
    const host = exampleHost({ rateLimiter: limiter({ token: SPENT }) })
    expect((await host.fetch(requestTo(DISPATCH, watched))).status).toBe(429)
    await expectRefused(watched, host)
  })

  it.each(['token', 'recipient'])(
    'A rate limiter that fails for the %s answers 503, and the log hides the connection',
    async (scope) => {
      const logger = recordingLogger()
      const down = Object.assign(new Error('redis://user:hunter2@host'), { code: 'ECONNREFUSED' })
      const rateLimiter = {
        consume: async (subject: RateLimitSubject) => (subject.scope === scope ? Promise.reject(down) : undefined),
      }
      const answer = await post(exampleHost({ rateLimiter, logger }), DISPATCH, EVENT)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await jsonOf(answer)).toMatchObject({ code: 'rate_limiter_unavailable' })
      expect(logger.lines).toMatchObject([
        {
          level: 'error',
          event: 'request.failed',
          fields: { code: 'rate_limiter_unavailable', causeCode: 'ECONNREFUSED' },
        },
      ])
      expect(JSON.stringify(logger.lines)).not.toContain('hunter2')
    },
  )
})

describe('a rate limit of batches', () => {
  const batch = (posts: number) => ({
    runs: Array.from({ length: posts }, (_, at) => ({ ...POST, run: { runId: `r${at}` } })),
  })
  const counted = (rateLimiter: RateLimiter) => {
    const counts: [string, number][] = []
    const consume: RateLimiter['consume'] = (subject, count) => {
      counts.push([subject.scope, count])
      return rateLimiter.consume(subject, count)
    }
    return { consume, counts }
  }

  it('A batch counts as its posts for the token and the tenant, the first of them before its body', async () => {
    const rateLimiter = counted(limiter({ token: { ...LEFT, limit: 100 }, tenant: { ...LEFT, limit: 100 } }))
    const host = exampleHost({ rateLimiter })
    expect((await post(host, BATCH, batch(7))).status).toBe(200)
    expect(rateLimiter.counts).toEqual([
      ['token', 1],
      ['tenant', 1],
      ['token', 6],
      ['tenant', 6],
    ])
    expect((await post(host, BATCH, batch(1))).status).toBe(200)
    expect(rateLimiter.counts.slice(4)).toEqual([
      ['token', 1],
      ['tenant', 1],
    ])
  })

  it('A batch for which a limit has too little left is refused, and records nothing', async () => {
    const token = new RateLimiterMemory({ points: 10, duration: 60 })
    const host = exampleHost({ rateLimiter: rateLimits({ token }) })
    const first = await post(host, BATCH, batch(8))
    expect([first.status, limitsOf(first)]).toEqual([200, ['"token";q=10;w=60', '"token";r=2;t=60']])
    const second = await post(host, BATCH, { runs: [{ ...POST, run: { runId: 'new' } }, POST, POST] })
    expect([second.status, await jsonOf(second)]).toMatchObject([429, { code: 'rate_limited' }])
    expect(second.headers.get('retry-after')).toBe('60')
    expect(await host.sallyport.runs.get({ sessionId: 's1', runId: 'new' })).toBeUndefined()
  })

  it('A batch larger than a whole limit is refused with that limit, and counts as one request', async () => {
    const rateLimiter = counted(limiter({ token: { ...LEFT, limit: 60 }, tenant: { ...LEFT, limit: 40 } }))
    const answer = await post(exampleHost({ rateLimiter }), BATCH, batch(41))
    expect([answer.status, await jsonOf(answer)]).toMatchObject([
      413,
      { code: 'batch_too_large', limit: 40, detail: 'The rate limit allows at most 40 posts at once.' },
    ])
    expect(rateLimiter.counts).toEqual([
      ['token', 1],
      ['tenant', 1],
    ])
    expect((await post(exampleHost({ rateLimiter }), BATCH, batch(40))).status).toBe(200)
  })

  it('A batch that is malformed counts as one request', async () => {
    const rateLimiter = counted(limiter({ token: LEFT }))
    expect((await post(exampleHost({ rateLimiter }), BATCH, batch(101))).status).toBe(422)
    expect(rateLimiter.counts).toEqual([
      ['token', 1],
      ['tenant', 1],
    ])
  })
})

describe('a host at its limit of requests in flight', () => {
  /** A host whose store waits for `release`. */
  function heldHost(maxInFlight: number, more: Partial<SallyportOptions<unknown>> = {}) {
    const store = memoryStore()
    const logger = recordingLogger()
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let accepts = 0
    const accept: typeof store.accept = async (acceptance) => {
      accepts += 1
      await released
      return store.accept(acceptance)
    }
    const host = exampleHost({ store: { ...store, accept }, logger, maxInFlight, ...more })
    const held = async (count: number): Promise<void> => {
      while (accepts < count) await new Promise(setImmediate)
    }
    return { host, release, held, logger, shed: () => logger.lines.filter(({ event }) => event === 'load.shed') }
  }

  it('A principal at maxInFlight gets 503 until its requests have ended, uncounted by the rate limiter', async () => {
    const rateLimiter = limiter({ token: LEFT })
    const { host, release, held, shed } = heldHost(3, { rateLimiter })
    const first = [1, 2, 3].map(() => post(host, DISPATCH, EVENT))
    await held(3)
    const answer = await post(host, DISPATCH, EVENT)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await jsonOf(answer)).toMatchObject({ code: 'overloaded' })
    expect(rateLimiter.asked.filter(({ scope }) => scope === 'token')).toHaveLength(3)
    expect(shed()).toMatchObject([{ level: 'warn', fields: { inFlight: 3 } }])
    for (const [token, status] of [['stranger', 401] as const, [undefined, 401] as const, ['session', 403] as const])
      expect((await post(host, DISPATCH, EVENT, { token })).status).toBe(status)
    release()
    for (const answer of await Promise.all(first)) expect(answer.status).toBe(202)
    expect((await post(host, DISPATCH, EVENT)).status).toBe(202)
  })

  it('A shed request has at most a small part of its body read', async () => {
    const { host, release, held } = heldHost(1)
    const first = post(host, DISPATCH, EVENT)
    await held(1)
    const watched = watchedBody()
    expect((await host.fetch(requestTo(DISPATCH, watched))).status).toBe(503)
    await expectRefused(watched, host)
    release()
    await first
  })

  it('A host at maxInFlight logs one line for many shed requests', async () => {
    const { host, release, held, logger } = heldHost(1)
    const first = post(host, DISPATCH, EVENT)
    await held(1)
    for (let at = 0; at < 20; at++) await post(host, DISPATCH, EVENT)
    expect(logger.lines.map(({ event }) => event)).toEqual(['load.shed'])
    release()
    await first
  })

  it('Failed requests free their places in flight', async () => {
    const host = exampleHost({ maxInFlight: 1 })
    for (const body of ['{', '[]', '{}']) expect((await host.fetch(requestTo(DISPATCH, { body }))).status).not.toBe(503)
    expect((await host.fetch(requestTo(DISPATCH, { method: 'GET' }))).status).toBe(405)
    expect((await post(host, DISPATCH, EVENT)).status).toBe(202)
  })
})
