import { describe, expect, it } from 'vitest'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../../src/ports/rate-limiter.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type ExampleHost, exampleHost } from '../openapi/host.ts'
import { jsonOf, type Post, post, requestTo } from '../openapi/posting.ts'
import { recordingLogger } from '../support/deps.ts'

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'
const EVENT = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }
const POST = { sessionId: 's1', run: { runId: 'r1' } }

const LEFT: RateLimitState = { allowed: true, limit: 10, remaining: 9, windowMs: 60_000, resetMs: 41_500 }
const SPENT: RateLimitState = { ...LEFT, allowed: false, remaining: 0 }

/** Says the same of every subject of a scope, and remembers what it was asked. */
function limiter(states: Partial<Record<RateLimitSubject['scope'], RateLimitState>>) {
  const asked: RateLimitSubject[] = []
  const consume: RateLimiter['consume'] = async (subject) => {
    asked.push(subject)
    return states[subject.scope]
  }
  return { consume, asked }
}

const PIECE = 16_384

/** A body without an end, which counts how many bytes it was asked for. */
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

/** Holds the little that is read of a body that was refused, and that a second later it is cancelled. */
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

describe('a limiter of requests', () => {
  it('is asked for the token, then for its tenant, then for the recipient', async () => {
    const rateLimiter = limiter({ token: LEFT, tenant: LEFT, recipient: LEFT })
    const answer = await post(exampleHost({ rateLimiter }), DISPATCH, EVENT)
    expect(answer.status).toBe(202)
    expect(rateLimiter.asked).toEqual([
      { scope: 'token', tenant: 'default', id: 'app', operation: 'dispatch' },
      { scope: 'tenant', tenant: 'default', id: 'default', operation: 'dispatch' },
      { scope: 'recipient', tenant: 'default', id: 'user_42', operation: 'dispatch' },
    ])
  })

  it('has every answer say what is left to the token and the tenant, and none what is left for the recipient', async () => {
    const rateLimiter = limiter({ token: LEFT, tenant: { ...LEFT, limit: 500, remaining: 17 }, recipient: LEFT })
    const host = exampleHost({ rateLimiter })
    const reported = ['"token";q=10;w=60, "tenant";q=500;w=60', '"token";r=9;t=42, "tenant";r=17;t=42']
    expect(limitsOf(await post(host, DISPATCH, EVENT))).toEqual(reported)
    expect(limitsOf(await post(host, RUN, POST))).toEqual(reported)
    expect(limitsOf(await post(host, DISPATCH, {}))).toEqual(reported)
    expect(limitsOf(await host.fetch(requestTo(DISPATCH, { body: '{' })))).toEqual(reported)
    expect(limitsOf(await post(host, RUN, POST, { headers: { 'content-type': 'text/plain' } }))).toEqual(reported)
  })

  it('says nothing where there are no limits', async () => {
    expect(limitsOf(await post(exampleHost(), DISPATCH, EVENT))).toEqual([null, null])
    expect(limitsOf(await post(exampleHost({ rateLimiter: limiter({}) }), DISPATCH, EVENT))).toEqual([null, null])
  })

  it.each<[RateLimitSubject['scope'], readonly string[]]>([
    ['token', ['token']],
    ['tenant', ['token', 'tenant']],
    ['recipient', ['token', 'tenant', 'recipient']],
  ])('refuses when the limit of the %s is spent, and stores nothing', async (scope, asked) => {
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

  it('is not asked for a recipient that the caller may not write to, a body that is none, or a dry run', async () => {
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

  it('does not count a repeat under its key for the recipient', async () => {
    const rateLimiter = limiter({ recipient: LEFT })
    const host = exampleHost({ rateLimiter })
    const more = { headers: { 'idempotency-key': 'k1' } }
    for (let at = 0; at < 3; at++) expect((await post(host, DISPATCH, EVENT, more)).status).toBe(202)
    expect(rateLimiter.asked.filter(({ scope }) => scope === 'recipient')).toHaveLength(1)
  })

  it('is not asked about strangers, nor of what the host dispatches itself', async () => {
    const rateLimiter = limiter({ token: SPENT, tenant: SPENT, recipient: SPENT })
    const host = exampleHost({ rateLimiter })
    expect((await post(host, DISPATCH, EVENT, { token: 'stranger' })).status).toBe(401)
    expect((await host.sallyport.dispatch(EVENT as never)).status).toBe(202)
    expect(rateLimiter.asked).toEqual([])
  })

  it('has no more than a little read of a body that it refuses', async () => {
    const watched = watchedBody()
    const host = exampleHost({ rateLimiter: limiter({ token: SPENT }) })
    expect((await host.fetch(requestTo(DISPATCH, watched))).status).toBe(429)
    await expectRefused(watched, host)
  })

  it.each(['token', 'recipient'])(
    'that cannot count for the %s makes it 503, and the log names the fault alone',
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

describe('a host with too much in flight', () => {
  /** A host whose store answers when it is let. */
  function heldHost(maxInFlight: number) {
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
    const host = exampleHost({ store: { ...store, accept }, logger, maxInFlight })
    const held = async (count: number): Promise<void> => {
      while (accepts < count) await new Promise(setImmediate)
    }
    return { host, release, held, logger, shed: () => logger.lines.filter(({ event }) => event === 'load.shed') }
  }

  it('answers 503 at once, whoever asks, and takes the rest when there is room again', async () => {
    const { host, release, held, shed } = heldHost(3)
    const first = [1, 2, 3].map(() => post(host, DISPATCH, EVENT))
    await held(3)
    for (const more of [{}, { token: 'stranger' }, { token: undefined }] as Post[]) {
      const answer = await post(host, DISPATCH, EVENT, more)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await jsonOf(answer)).toMatchObject({ code: 'overloaded' })
    }
    expect(shed()).toMatchObject([{ level: 'warn', fields: { inFlight: 3 } }])
    release()
    for (const answer of await Promise.all(first)) expect(answer.status).toBe(202)
    expect((await post(host, DISPATCH, EVENT)).status).toBe(202)
  })

  it('reads no more than a little of the body of what it sheds', async () => {
    const { host, release, held } = heldHost(1)
    const first = post(host, DISPATCH, EVENT)
    await held(1)
    const watched = watchedBody()
    expect((await host.fetch(requestTo(DISPATCH, watched))).status).toBe(503)
    await expectRefused(watched, host)
    release()
    await first
  })

  it('logs no line for each request that it sheds', async () => {
    const { host, release, held, logger } = heldHost(1)
    const first = post(host, DISPATCH, EVENT)
    await held(1)
    for (let at = 0; at < 20; at++) await post(host, DISPATCH, EVENT)
    expect(logger.lines.map(({ event }) => event)).toEqual(['load.shed'])
    release()
    await first
  })

  it('has room again after what failed', async () => {
    const host = exampleHost({ maxInFlight: 1 })
    for (const body of ['{', '[]', '{}']) expect((await host.fetch(requestTo(DISPATCH, { body }))).status).not.toBe(503)
    expect((await host.fetch(requestTo(DISPATCH, { method: 'GET' }))).status).toBe(405)
    expect((await post(host, DISPATCH, EVENT)).status).toBe(202)
  })
})
