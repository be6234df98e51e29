import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { type FetchOptions, toFetch } from '../../src/adapters/fetch.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { createSallyport } from '../../src/sallyport/create-sallyport.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'
import { recordingChannel } from '../support/recording-channel.ts'
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

describe('the waitUntil of toFetch', () => {
  /** A runtime that waits: what it was given, and on what it was called. */
  class Waiting {
    readonly given: Promise<void>[] = []
    readonly called: unknown[] = []
    readonly waitUntil = (work: Promise<void>): void => void this.given.push(work)
  }

  /** As Workers have it: it throws "Illegal invocation" unless it is called on its own object. */
  class Context {
    readonly #given: Promise<void>[] = []
    get given(): readonly Promise<void>[] {
      return this.#given
    }
    waitUntil(work: Promise<void>): void {
      this.#given.push(work)
    }
  }

  test('is given the delivery of what was accepted', async () => {
    const { given, waitUntil } = new Waiting()
    const { fetch, endpoints } = mount({ waitUntil })
    expect((await fetch(post('{}', URL_OF_DISPATCH))).status).toBe(202)
    expect(given).toHaveLength(1)
    expect(await given[0]).toBeUndefined()
    expect(endpoints.delivered).toBe(1)
  })

  test('is that of the last argument, called on its object, where the host has given none', async () => {
    const context = new Context()
    const { fetch, endpoints } = mount()
    expect((await fetch(post('{}', URL_OF_DISPATCH), { SECRET: 's' }, context)).status).toBe(202)
    expect([context.given.length, endpoints.delivered]).toEqual([1, 1])
    expect((await fetch(post('{}', URL_OF_DISPATCH), context)).status).toBe(202)
    expect([context.given.length, endpoints.delivered]).toEqual([2, 2])
  })

  test('is that of the host, where both are there', async () => {
    const { given, waitUntil } = new Waiting()
    const context = new Context()
    const { fetch, endpoints } = mount({ waitUntil })
    await fetch(post('{}', URL_OF_DISPATCH), {}, context)
    expect([given.length, context.given.length, endpoints.delivered]).toEqual([1, 0, 1])
  })

  test.each<[string, readonly unknown[]]>([
    ['nothing', []],
    ['an environment alone', [{ SECRET: 's' }]],
    ['undefined', [{}, undefined]],
    ['null', [null]],
    ['a text', ['waitUntil']],
    ['a context whose waitUntil is no function', [{ waitUntil: true }]],
    ['a context that is not the last', [{ waitUntil: () => {} }, {}]],
  ])('is none where the runtime passes %s: nothing is delivered', async (_, context) => {
    const { fetch, endpoints } = mount()
    expect((await fetch(post('{}', URL_OF_DISPATCH), ...context)).status).toBe(202)
    expect(endpoints.delivered).toBe(0)
  })

  test('is not called for anything but what was accepted', async () => {
    const { given, waitUntil } = new Waiting()
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

  test('is given the delivery of what a recorded run is told of', async () => {
    const { given, waitUntil } = new Waiting()
    const { fetch, endpoints } = mount({ waitUntil })
    endpoints.telling = true
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
  ])('that %s leaves the answer as it is, and nothing behind', async (_, waitUntil) => {
    await withoutStrayRejections(async () => {
      for (const [fetch, ...context] of [[mount({ waitUntil }).fetch], [mount().fetch, { waitUntil }]] as const) {
        const response = await fetch(post('{}', URL_OF_DISPATCH), ...context)
        expect([response.status, await response.json()]).toMatchObject([202, { operation: 'dispatch' }])
      }
    })
  })

  test('does not keep the answer back', async () => {
    const { fetch, endpoints } = mount({ waitUntil: (work) => work })
    endpoints.deliver = () => new Promise(() => {})
    expect((await fetch(post('{}', URL_OF_DISPATCH))).status).toBe(202)
  })
})

describe('toFetch of a whole Sallyport, mounted in Hono', () => {
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

  test('delivers what it accepted, after the answer', async () => {
    const { call, given, mail, sallyport } = worker()
    const response = await call()
    expect(response.status).toBe(202)
    const { dispatchId, status } = (await response.json()) as { dispatchId: string; status: string }
    expect([status, given.length]).toEqual(['queued', 1])
    await Promise.all(given)
    expect(mail.sent).toMatchObject([{ to: 'jane@example.com', content: { text: 'pong' } }])
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'sent' })
  })

  test('waits for nothing when it refused', async () => {
    const { call, given } = worker()
    expect((await call('nobody')).status).toBe(401)
    expect((await call('app', '{}')).status).toBe(422)
    expect(given).toEqual([])
  })

  test('logs a store that fails while it delivers, and rejects for nobody', async () => {
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

test('what the host does when it is told of an event is waited for as well', async () => {
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

test('delivers what is told of a run before the runtime may stop', async () => {
  const mail = recordingChannel()
  const sallyport = createSallyport({
    auth: testAuth,
    events: defineEvents({ 'run.failed': { channels: { mail: { text: () => 'A run failed' } } } }),
    store: memoryStore(),
    channels: { mail },
    runEvents: { 'run.failed': () => ({ recipient: 'ops@example.com' }) },
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
