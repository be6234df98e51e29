import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { type FetchOptions, toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { runNotices } from '../support/run-notices.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'

const URL_OF_DISPATCH = 'https://host.example/api/outbound/dispatch'
const URL_OF_RUN = 'https://host.example/api/agents/session/run'
const HEADERS = { authorization: TOKEN, 'content-type': 'application/json' }

function mount(options?: FetchOptions): { fetch: ReturnType<typeof toFetch>; endpoints: FakeEndpoints } {
  const endpoints = new FakeEndpoints()
  return { fetch: toFetch({ endpoints }, options), endpoints }
}

function post(body: string, url: string): Request {
  return new Request(url, { method: 'POST', headers: HEADERS, body })
}

describe('waitUntil of toFetch', () => {
  /** Records the promises given to waitUntil. */
  class WaitUntilRecorder {
    readonly given: Promise<void>[] = []
    readonly waitUntil = (work: Promise<void>): void => void this.given.push(work)
  }

  /** Context as in Workers: `waitUntil` throws "Illegal invocation" on another object. */
  class Context {
    readonly #given: Promise<void>[] = []
    get given(): readonly Promise<void>[] {
      return this.#given
    }
    waitUntil(work: Promise<void>): void {
      this.#given.push(work)
    }
  }

  test('waitUntil gets the delivery of an accepted dispatch', async () => {
    const { given, waitUntil } = new WaitUntilRecorder()
    const { fetch, endpoints } = mount({ waitUntil })
    expect((await fetch(post('{}', URL_OF_DISPATCH))).status).toBe(202)
    expect(given).toHaveLength(1)
    expect(await given[0]).toBeUndefined()
    expect(endpoints.delivered).toBe(1)
  })

  test('toFetch calls waitUntil of its last argument, on that object', async () => {
    const context = new Context()
    const { fetch, endpoints } = mount()
    expect((await fetch(post('{}', URL_OF_DISPATCH), { SECRET: 's' }, context)).status).toBe(202)
    expect([context.given.length, endpoints.delivered]).toEqual([1, 1])
    expect((await fetch(post('{}', URL_OF_DISPATCH), context)).status).toBe(202)
    expect([context.given.length, endpoints.delivered]).toEqual([2, 2])
  })

  test('The waitUntil option takes precedence over that of the context', async () => {
    const { given, waitUntil } = new WaitUntilRecorder()
    const context = new Context()
    const { fetch, endpoints } = mount({ waitUntil })
    await fetch(post('{}', URL_OF_DISPATCH), {}, context)
    expect([given.length, context.given.length, endpoints.delivered]).toEqual([1, 0, 1])
  })

  test.each<[string, readonly unknown[]]>([
    ['nothing', []],
    ['only an environment', [{ SECRET: 's' }]],
    ['undefined', [{}, undefined]],
    ['null', [null]],
    ['a string', ['waitUntil']],
    ['a context whose waitUntil is no function', [{ waitUntil: true }]],
    ['a context that is not the last', [{ waitUntil: () => {} }, {}]],
  ])('Nothing is delivered when the runtime passes %s', async (_, context) => {
    const { fetch, endpoints } = mount()
    expect((await fetch(post('{}', URL_OF_DISPATCH), ...context)).status).toBe(202)
    expect(endpoints.delivered).toBe(0)
  })

  test('waitUntil is called only for an accepted dispatch', async () => {
    const { given, waitUntil } = new WaitUntilRecorder()
    const { fetch, endpoints } = mount({ waitUntil, notFound: () => new Response('', { status: 202 }) })
    const bare = new Request(URL_OF_DISPATCH, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': HEADERS['content-type'] },
    })
    const statuses = []
    for (const request of [
      post('{}', URL_OF_RUN),
      post('{', URL_OF_DISPATCH),
      bare,
      new Request(URL_OF_DISPATCH),
      new Request('https://host.example/elsewhere'),
    ]) {
      statuses.push((await fetch(request)).status)
    }
    expect(statuses).toEqual([201, 400, 401, 405, 202])
    expect([given, endpoints.delivered]).toEqual([[], 0])
  })

  test('waitUntil gets the delivery of the events of a recorded run', async () => {
    const { given, waitUntil } = new WaitUntilRecorder()
    const { fetch, endpoints } = mount({ waitUntil })
    endpoints.publishing = true
    expect((await fetch(post('{}', URL_OF_RUN))).status).toBe(201)
    expect([given.length, endpoints.delivered]).toEqual([1, 1])
  })

  test.each<[string, (work: Promise<void>) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no context')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no context'))],
  ])('A waitUntil that %s does not change the answer', async (_, waitUntil) => {
    await withoutStrayRejections(async () => {
      for (const [fetch, ...context] of [[mount({ waitUntil }).fetch], [mount().fetch, { waitUntil }]] as const) {
        const response = await fetch(post('{}', URL_OF_DISPATCH), ...context)
        expect([response.status, await response.json()]).toMatchObject([202, { operation: 'dispatch' }])
      }
    })
  })

  test('waitUntil does not delay the answer', async () => {
    const { fetch, endpoints } = mount({ waitUntil: (work) => work })
    endpoints.deliver = () => new Promise(() => {})
    expect((await fetch(post('{}', URL_OF_DISPATCH))).status).toBe(202)
  })
})

describe('toFetch of a complete Sallyport, mounted in Hono', () => {
  const events = defineEvents({ ping: { channels: { mail: { text: () => 'pong' } } } })
  const body = JSON.stringify({ eventType: 'ping', recipient: 'jane@example.com' })

  function worker(store = memoryStore()) {
    const mail = recordingChannel()
    const logger = recordingLogger()
    const sallyport = createSallyport({ auth: testAuth, events, store, channels: { mail }, logger })
    const app = new Hono()
    app.mount('/v1', toFetch(sallyport))
    const given: Promise<unknown>[] = []
    const context = {
      waitUntil(work: Promise<unknown>) {
        if (this !== context) throw new TypeError('Illegal invocation')
        given.push(work)
      },
      passThroughOnException() {},
      props: {},
    }
    const call = (token = 'app', sent: string = body): Promise<Response> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const url = 'https://host.example/v1/api/outbound/dispatch'
      return Promise.resolve(app.fetch(new Request(url, { method: 'POST', headers, body: sent }), {}, context))
    }
    return { call, given, mail, logger, sallyport }
  }

  test('An accepted dispatch is delivered after the answer', async () => {
    const { call, given, mail, sallyport } = worker()
    const response = await call()
    expect(response.status).toBe(202)
    const { dispatchId, status } = (await response.json()) as { dispatchId: string; status: string }
    expect([status, given.length]).toEqual(['queued', 1])
    await Promise.all(given)
    expect(mail.sent).toMatchObject([{ to: 'jane@example.com', content: { text: 'pong' } }])
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'sent' })
  })

  test('A refused dispatch calls no waitUntil', async () => {
    const { call, given } = worker()
    expect((await call('nobody')).status).toBe(401)
    expect((await call('app', '{}')).status).toBe(422)
    expect(given).toEqual([])
  })

  test('A store that fails during delivery is logged, and the promise resolves', async () => {
    const store = memoryStore()
    const { call, given, logger } = worker({ ...store, claim: () => Promise.reject(new RangeError('canary')) })
    expect((await call()).status).toBe(202)
    expect(await Promise.all(given)).toEqual([undefined])
    const line = {
      level: 'error',
      event: 'worker.claim_failed',
      fields: { cause: 'RangeError', stack: expect.any(String) },
    }
    expect(logger.lines).toEqual([line])
  })
})

test('waitUntil also waits for the hooks of the host', async () => {
  const events = defineEvents({ e: { channels: { a: { when: () => false } } } })
  let reported = false
  const sallyport = createSallyport({
    auth: testAuth,
    events,
    store: memoryStore(),
    channels: { a: recordingChannel() },
    logger: recordingLogger(),
    hooks: {
      async onAccepted() {
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
        reported = true
      },
    },
  })
  const given: Promise<void>[] = []
  const fetch = toFetch(sallyport, { waitUntil: (work) => given.push(work) })
  const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
  const body = JSON.stringify({ eventType: 'e', recipient: 'jane@example.com' })
  expect((await fetch(new Request(URL_OF_DISPATCH, { method: 'POST', headers, body }))).status).toBe(202)
  await Promise.all(given)
  expect([given.length, reported]).toEqual([1, true])
})

test('waitUntil waits for the notifications of a run', async () => {
  const mail = recordingChannel()
  const sallyport = createSallyport({
    auth: testAuth,
    events: defineEvents({ 'run.failed': { channels: { mail: { text: () => 'A run failed' } } } }),
    store: memoryStore(),
    channels: { mail },
    plugins: [runNotices({ failed: () => 'ops@example.com' })],
  })
  const given: Promise<void>[] = []
  const fetch = toFetch(sallyport, { waitUntil: (work) => void given.push(work) })
  const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
  const run = (status: string) => JSON.stringify({ sessionId: 's1', run: { runId: 'r1', status } })
  await fetch(new Request(URL_OF_RUN, { method: 'POST', headers, body: run('running') }))
  expect(given).toEqual([])
  await fetch(new Request(URL_OF_RUN, { method: 'POST', headers, body: run('failed') }))
  expect(given).toHaveLength(1)
  await Promise.all(given)
  expect(mail.sent).toHaveLength(1)
})
