import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { AutoRouter } from 'itty-router'
import { afterEach, describe, expect, test } from 'vitest'
import { type FetchOptions, toFetch } from '../../src/adapters/fetch.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'
import { listen } from '../support/hosts/host.ts'

const URL_OF_RUN = 'https://host.example/api/agents/session/run'
const HEADERS = { authorization: TOKEN, 'content-type': 'application/json' }

function mount(options?: FetchOptions): { fetch: (request: Request) => Promise<Response>; endpoints: FakeEndpoints } {
  const endpoints = new FakeEndpoints()
  return { fetch: toFetch({ endpoints }, options), endpoints }
}

function post(body: string | ReadableStream<Uint8Array>, url: string = URL_OF_RUN): Request {
  const init = { method: 'POST', headers: HEADERS, body, duplex: 'half' }
  return new Request(url, init as RequestInit)
}

describe('toFetch', () => {
  test('toFetch answers a Request with a Response', async () => {
    const { fetch } = mount()
    const response = await fetch(post('{"a":"ü"}', `${URL_OF_RUN}/?b=1#c`))
    expect(response.status).toBe(201)
    const text = await response.text()
    expect(JSON.parse(text)).toEqual({ operation: 'session_run', body: { a: 'ü' }, query: { b: '1' } })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
  })

  test('toFetch answers other paths with a 404 problem, or with notFound', async () => {
    const { fetch } = mount()
    const response = await fetch(new Request('https://host.example/'))
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    const other = mount({ notFound: (request) => new Response(request.url) })
    expect(await (await other.fetch(new Request('https://host.example/x'))).text()).toBe('https://host.example/x')
  })

  test('toFetch answers HEAD without a body', async () => {
    const { fetch } = mount()
    const response = await fetch(new Request(URL_OF_RUN, { method: 'HEAD' }))
    expect([response.status, response.body]).toEqual([405, null])
  })

  test('toFetch refuses a post without a body as empty', async () => {
    const { fetch } = mount()
    const response = await fetch(new Request(URL_OF_RUN, { method: 'POST', headers: HEADERS }))
    expect(await response.json()).toMatchObject({
      code: 'invalid_json',
      detail: 'The body is empty. Send a JSON object.',
    })
  })

  test('toFetch answers a proxied request whose body getter throws', async () => {
    const { fetch } = mount()
    const router = AutoRouter().all('/api/*', fetch)
    const statuses: number[] = []
    for (const method of ['GET', 'HEAD', 'POST']) {
      statuses.push((await router.fetch(new Request(URL_OF_RUN, { method, headers: HEADERS }))).status)
    }
    expect(statuses).toEqual([405, 405, 400])
  })

  test('toFetch handles the late end of a refused body from an async iterable', async () => {
    const { fetch, endpoints } = mount()
    let end: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const body = async function* (): AsyncGenerator<Uint8Array, void> {
      yield Uint8Array.of(0x7b)
      await ended
    }
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(), duplex: 'half' }
    const response = await fetch(new Request(URL_OF_RUN, init as unknown as RequestInit))
    expect([response.status, response.headers.get('connection')]).toEqual([401, 'close'])
    await new Promise(setImmediate)
    endpoints.clock.advance(1_000)
    expect(await response.json()).toMatchObject({ code: 'unauthorized' })
    const uncaught: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => uncaught.push(error))
    end()
    await new Promise(setImmediate)
    process.removeAllListeners('uncaughtException')
    for (const other of others) process.on('uncaughtException', other)
    expect(uncaught).toEqual([])
  })

  test('toFetch takes a plain object in the shape of a Request', async () => {
    const { fetch } = mount()
    const { method, url, headers, body } = post('{"a":1}')
    const response = await fetch({ method, url, headers, body, bodyUsed: false } as Request)
    expect(response.status).toBe(201)
  })

  test('toFetch answers body_already_consumed for a read or locked request', async () => {
    const { fetch } = mount()
    const read = post('{}')
    await read.text()
    const locked = post('{}')
    locked.body?.getReader()
    for (const request of [read, locked]) {
      const response = await fetch(request)
      expect(response.status).toBe(500)
      expect(await response.json()).toMatchObject({ code: 'body_already_consumed', detail: /still unread/ })
    }
  })

  test('toFetch answers 400 when the body breaks off', async () => {
    const { fetch, endpoints } = mount()
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('{')),
      pull: (controller) => controller.error(new Error('canary')),
    })
    const response = await fetch(post(stream))
    expect(await response.json()).toMatchObject({
      status: 400,
      code: 'invalid_json',
      detail: 'The body broke off before its end.',
    })
    await endpoints.clock.pending(0)
  })

  test('toFetch cancels a refused body at its first chunk later than 1 s after the answer', async () => {
    const { fetch, endpoints } = mount()
    let cancelled: () => void = () => {}
    let early = true
    const whenCancelled = new Promise<void>((resolve) => {
      cancelled = () => {
        expect(early).toBe(false)
        resolve()
      }
    })
    let send: () => void = () => {}
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = () => controller.enqueue(new Uint8Array(65_537))
        send()
      },
      cancel: () => cancelled(),
    })
    expect((await fetch(post(stream))).status).toBe(413)
    endpoints.clock.advance(999)
    early = false
    endpoints.clock.advance(1)
    send()
    await whenCancelled
  })

  test('toFetch keeps no timer for a refused body that has ended', async () => {
    const { fetch, endpoints } = mount()
    expect((await fetch(post('x'.repeat(65_537)))).status).toBe(413)
    await endpoints.clock.pending(0)
  })

  test('toFetch does not read a short body refused by its headers', async () => {
    const { fetch } = mount()
    const request = post('x')
    request.headers.set('content-type', 'text/plain')
    request.headers.set('content-length', '1')
    expect((await fetch(request)).status).toBe(415)
    expect(await request.text()).toBe('x')
  })

  test('toFetch imports no node: module', () => {
    const seen = new Set<string>()
    const visit = (file: URL): void => {
      if (seen.has(file.href)) return
      seen.add(file.href)
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export|}) (?:.* from )?'([^']+)'/gm,
      )) {
        expect(from).toMatch(/^\.\.?\//)
        visit(new URL(from, file))
      }
    }
    visit(new URL('../../src/adapters/fetch.ts', import.meta.url))
    expect(seen.size).toBeGreaterThan(5)
  })
})

describe('toFetch in Hono', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })

  test('toFetch mounts below a path in Hono', async () => {
    const { fetch } = mount()
    const app = new Hono()
    app.mount('/v1', fetch)
    const running = await listen(createAdaptorServer({ fetch: app.fetch }) as Server)
    open.push(running)
    expect((await call(`${running.url}/v1/api/agents/session/run?a=1`, { body: '{}' })).json.query).toEqual({ a: '1' })
  })

  test('toFetch answers body_already_consumed after c.req.json()', async () => {
    const { fetch } = mount()
    const app = new Hono()
    app.all('/api/*', async (c) => {
      await c.req.json()
      return fetch(c.req.raw)
    })
    const running = await listen(createAdaptorServer({ fetch: app.fetch }) as Server)
    open.push(running)
    const reply = await call(`${running.url}/api/agents/session/run`, { body: '{}' })
    expect(reply.json.code).toBe('body_already_consumed')
  })
})
