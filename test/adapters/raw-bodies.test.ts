import { bodyParser } from '@koa/bodyparser'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import koaMount from 'koa-mount'
import { describe, expect, test } from 'vitest'
import { keepRawBody, toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { recordingLogger } from '../support/deps.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { closedAfterEach } from '../support/hosts/closed-after-each.ts'
import { express4 } from '../support/hosts/express4.ts'
import { listen, runningAt } from '../support/hosts/host.ts'
import { Koa2 } from '../support/hosts/koa.ts'
import { fc, runs } from '../support/properties.ts'
import { orderSallyport } from './matrix/order-sallyport.ts'
import { DISPATCH, FEEDBACK, UNSUBSCRIBE } from './matrix/paths.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** JSON whose bytes a parser cannot give back. */
const SPACED = '{ "a" : 1.0, "a" : "\\u00e9" }'

const closing = closedAfterEach()

async function start(listener: Parameters<typeof listen>[0]): Promise<string> {
  return closing(await listen(listener)).url
}

const bodiesOf = ({ opened }: FakeEndpoints) => opened.map(({ body }) => Buffer.from(body).toString())

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('%s', (_name, framework) => {
  async function behind(...before: express.RequestHandler[]) {
    const endpoints = new FakeEndpoints()
    return { endpoints, url: await start(framework().use(...before, toExpress({ endpoints }))) }
  }

  test('express.json() with keepRawBody keeps the exact bytes', async () => {
    const { url, endpoints } = await behind(framework.json({ verify: keepRawBody, limit: '2mb' }))
    for (const body of [SPACED, [SPACED.slice(0, 5), SPACED.slice(5)], '']) {
      expect((await call(url + FEEDBACK, { body })).status).toBe(200)
    }
    expect(bodiesOf(endpoints)).toEqual([SPACED, SPACED, ''])
  })

  test('keepRawBody keeps any JSON text byte by byte', async () => {
    const { url, endpoints } = await behind(framework.json({ verify: keepRawBody, strict: false }))
    const spaces = fc.constantFrom('', ' ', '\t', '\n')
    await fc.assert(
      fc.asyncProperty(fc.json({ stringUnit: 'binary' }), spaces, spaces, async (json, before, after) => {
        const body = before + json + after
        expect((await call(url + FEEDBACK, { body })).status).toBe(200)
        expect(bodiesOf(endpoints).at(-1)).toBe(Buffer.from(body).toString())
      }),
      { numRuns: runs(50) },
    )
  })

  test('express.json() alone is answered with the remedy', async () => {
    const { url, endpoints } = await behind(framework.json())
    const reply = await call(url + FEEDBACK, { body: SPACED })
    expect(reply.json).toMatchObject({ status: 500, code: 'body_already_consumed' })
    expect(reply.json.detail).toMatch(/needs its exact bytes.*before the body parser.*express\.json\({ verify: keepRaw/)
    expect(endpoints.opened).toEqual([])
  })

  test('A lost body is logged with the remedy', async () => {
    const logger = recordingLogger()
    const { endpoints } = orderSallyport({ logger })
    const withOpen = { ...endpoints, open: new FakeEndpoints().open }
    const url = await start(framework().use(framework.json(), toExpress({ endpoints: withOpen })))
    expect((await call(url + FEEDBACK, { body: SPACED })).status).toBe(500)
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        event: 'request.failed',
        fields: { code: 'body_already_consumed', detail: expect.stringContaining('keepRawBody') },
      },
    ])
  })

  test('A body that express.json() skips arrives', async () => {
    const { url, endpoints } = await behind(framework.json())
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=a', 'text/plain']) {
      expect((await call(url + FEEDBACK, { headers: { 'content-type': type }, body: 'a=%62' })).status).toBe(200)
    }
    expect(bodiesOf(endpoints)).toEqual(['a=%62', 'a=%62', 'a=%62'])
  })

  test.each([
    ['express.raw()', framework.raw({ type: '*/*' })],
    ['express.text()', framework.text({ type: '*/*' })],
  ])('The result of %s is the exact body', async (_parser, parser) => {
    const { url, endpoints } = await behind(parser)
    expect((await call(url + FEEDBACK, { body: SPACED })).status).toBe(200)
    expect(bodiesOf(endpoints)).toEqual([SPACED])
  })

  test('Unsubscribe takes a form that express.urlencoded() has parsed', async () => {
    const { url, endpoints } = await behind(framework.json(), framework.urlencoded({ extended: false }))
    expect((await call(url + UNSUBSCRIBE, { headers: FORM, body: 'scope=a%20b&x=1' })).status).toBe(200)
    expect((await call(url + UNSUBSCRIBE, { method: 'GET' })).status).toBe(200)
    expect(bodiesOf(endpoints)).toEqual(['scope=a+b&x=1', ''])
  })

  test('The URL of the handler has the prefix of a mounted Router', async () => {
    const endpoints = new FakeEndpoints()
    const router = framework.Router().use('/b', toExpress({ endpoints }))
    const url = await start(framework().use('/a', framework.json({ verify: keepRawBody }), router))
    expect((await call(`${url}/a/b${FEEDBACK}?c=%20`, { body: SPACED })).status).toBe(200)
    expect(endpoints.opened).toMatchObject([{ url: `/a/b${FEEDBACK}?c=%20`, parameter: 'a b' }])
  })

  test('keepRawBody holds no bytes of other requests, and does not change dispatches', async () => {
    const kept: unknown[] = []
    const { url, endpoints } = await behind(framework.json({ verify: keepRawBody }), (req, _res, next) => {
      kept.push(Reflect.get(req, 'rawBody'))
      next()
    })
    expect((await call(url + DISPATCH, { body: '{"a":1}' })).json.body).toEqual({ a: 1 })
    await call(`${url}/orders`, { body: '{"a":1}' })
    expect(kept).toEqual([Buffer.from('{"a":1}'), undefined])
    expect(endpoints.handled.map(({ body }) => body)).toEqual([{ a: 1 }])
  })
})

test.each([
  [{}, true],
  [{ url: '/api/outbound/feedback/a' }, true],
  [{ url: '/feedback/a', originalUrl: '/v1/api/outbound/feedback/a' }, true],
  [{ url: '/orders' }, false],
  [{ url: '/api/outbound/feedback/a', originalUrl: '/orders/api' }, false],
])('keepRawBody keeps the bytes by the path of a request: %j, %s', (urls, isKept) => {
  const bytes = Buffer.from('a')
  const req = { ...urls, rawBody: undefined }
  keepRawBody(req, {}, bytes)
  expect(req.rawBody).toBe(isKept ? bytes : undefined)
})

describe.each([
  ['Koa 3', Koa],
  ['Koa 2', Koa2],
])('%s', (_name, Framework) => {
  async function behind(...before: Koa.Middleware[]) {
    const endpoints = new FakeEndpoints()
    const app = new Framework()
    for (const each of before) app.use(each)
    return { endpoints, url: await start(app.use(koaMount('/v1', toKoa({ endpoints }))).callback()) }
  }

  test('The exact text kept by @koa/bodyparser arrives', async () => {
    const { url, endpoints } = await behind(bodyParser())
    for (const body of [SPACED, [SPACED.slice(0, 5), SPACED.slice(5)]]) {
      expect((await call(`${url}/v1${FEEDBACK}`, { body })).status).toBe(200)
    }
    expect((await call(`${url}/v1${FEEDBACK}`, { headers: FORM, body: 'a=%62' })).status).toBe(200)
    expect(bodiesOf(endpoints)).toEqual([SPACED, SPACED, 'a=%62'])
    expect(endpoints.opened[0]?.url).toBe(`/v1${FEEDBACK}`)
  })

  test('A text that @koa/bodyparser decoded with a loss is answered with the remedy', async () => {
    const { url, endpoints } = await behind(bodyParser())
    const body = Uint8Array.of(0x22, 0xff, 0x22)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await call(`${url}/v1${FEEDBACK}`, { headers, body })
    expect(reply.json).toMatchObject({ status: 500, code: 'body_already_consumed' })
    expect(endpoints.opened).toEqual([])
  })

  test('A parsed value alone is answered with the remedy', async () => {
    const { url } = await behind(bodyParser(), (ctx, next) => {
      Object.assign(ctx.request, { rawBody: undefined })
      return next()
    })
    const reply = await call(`${url}/v1${FEEDBACK}`, { body: SPACED })
    expect(reply.json).toMatchObject({ status: 500, code: 'body_already_consumed' })
  })

  test('The URL of the handler has the prefix of an outer Express app', async () => {
    const endpoints = new FakeEndpoints()
    const koa = new Framework().use(koaMount('/b', toKoa({ endpoints })))
    const url = await start(express().use('/a', koa.callback()))
    expect((await call(`${url}/a/b${FEEDBACK}`, { body: 'a' })).status).toBe(200)
    expect(endpoints.opened).toMatchObject([{ url: `/a/b${FEEDBACK}` }])
  })
})

describe('Fastify', () => {
  test('The rawBody of a Fastify request arrives if the hook passes it', async () => {
    const endpoints = new FakeEndpoints()
    const handle = toNode({ endpoints })
    const app = Fastify()
    // As fastify-raw-body does.
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const chunks: Buffer[] = []
      payload.on('data', (chunk: Buffer) => chunks.push(chunk))
      payload.on('end', () => Object.assign(request, { rawBody: Buffer.concat(chunks) }))
      done(null, payload)
    })
    app.addHook('preHandler', (request, reply, done) => {
      Object.assign(request.raw, { body: request.body, rawBody: Reflect.get(request, 'rawBody') })
      void handle(request.raw, reply.raw, (error) => done(error as Error | undefined))
    })
    app.all('/api/*', (_request, reply) => reply.callNotFound())
    await app.listen({ port: 0, host: '127.0.0.1' })
    const running = runningAt(app.server, [], () => app.close())
    closing(running)
    expect((await call(running.url + FEEDBACK, { body: SPACED })).status).toBe(200)
    expect(bodiesOf(endpoints)).toEqual([SPACED])
  })
})

describe('fetch', () => {
  test('A request that was read is answered with the remedy', async () => {
    const endpoints = new FakeEndpoints()
    const request = new Request(`http://host${FEEDBACK}`, { method: 'POST', body: SPACED })
    await request.json()
    const reply = await toFetch({ endpoints })(request)
    expect(await reply.json()).toMatchObject({
      status: 500,
      code: 'body_already_consumed',
      detail: expect.stringContaining('pass a request that is still unread'),
    })
  })
})
