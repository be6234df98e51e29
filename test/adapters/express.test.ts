import type { Server } from 'node:http'
import express from 'express'
import { afterEach, describe, expect, test } from 'vitest'
import { toExpress } from '../../src/adapters/express.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { express4 } from '../support/hosts/express4.ts'
import { listen } from '../support/hosts/host.ts'

const RUN = '/api/agents/session/run'

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('%s', (_name, framework) => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })
  async function start(set: (app: express.Express, endpoints: FakeEndpoints) => void): Promise<{
    url: string
    endpoints: FakeEndpoints
  }> {
    const app = framework()
    const endpoints = new FakeEndpoints()
    set(app, endpoints)
    const running = await listen(app)
    open.push(running)
    return { url: running.url + RUN, endpoints }
  }
  /** Mounts Sallyport after middleware of the host. */
  function behind(...before: express.RequestHandler[]): ReturnType<typeof start> {
    return start((app, endpoints) => void app.use(...before, toExpress({ endpoints })))
  }

  test('toExpress mounts below a path', async () => {
    const { url } = await start((app, endpoints) => void app.use('/v1', toExpress({ endpoints })))
    const mounted = url.replace('/api/', '/v1/api/')
    expect((await call(mounted, { body: '{}' })).status).toBe(201)
    expect((await call(url, { body: '{}' })).status).toBe(404)
  })

  test('toExpress keeps the headers set by the host', async () => {
    const { url } = await behind((_req, res, next) => {
      res.setHeader('access-control-allow-origin', '*')
      next()
    })
    const { headers } = await call(url, { body: '{}' })
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-powered-by': 'Express' })
  })

  test('toExpress reads the stream that a parser skipped', async () => {
    const { url } = await behind(framework.json({ type: 'application/vnd.other+json' }))
    expect((await call(url, { body: '{"a":1}' })).json.body).toEqual({ a: 1 })
  })

  test('toExpress refuses a form parsed by the host with 415', async () => {
    const { url } = await behind(framework.urlencoded({ extended: false }))
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await call(url, { headers, body: 'a=1' })).status).toBe(415)
  })

  test.each([
    ['express.raw()', framework.raw({ type: '*/*', limit: '1mb' })],
    ['express.text()', framework.text({ type: '*/*', limit: '1mb' })],
  ])('toExpress parses the result of %s', async (_parser, parser) => {
    const { url } = await behind(parser)
    expect((await call(url, { body: '{"a":"ü"}' })).json.body).toEqual({ a: 'ü' })
    expect((await call(url, { body: '{' })).json.code).toBe('invalid_json')
    const big = 'ü'.repeat(32_768)
    expect((await call(url, { body: [big, '"'] })).json).toMatchObject({ code: 'body_too_large', limit: 65_536 })
  })

  test('toExpress refuses invalid UTF-8 in the bytes of express.raw()', async () => {
    const { url } = await behind(framework.raw({ type: '*/*' }))
    expect((await call(url, { body: Uint8Array.of(0x22, 0xff, 0x22) })).json.detail).toBe(
      'The body is not valid UTF-8.',
    )
  })

  test('toExpress takes any value parsed by the host, also null', async () => {
    const { url, endpoints } = await behind(framework.json({ strict: false }))
    await call(url, { body: 'null' })
    expect(endpoints.handled.map((request) => request.body)).toEqual([null])
  })

  test('toExpress checks the size of a parsed body by its Content-Length', async () => {
    const { url } = await behind(framework.json({ limit: '1mb' }))
    expect((await call(url, { body: `"${'x'.repeat(65_535)}"` })).status).toBe(400)
    expect((await call(url, { body: `["${'x'.repeat(65_533)}"]` })).json.code).toBe('body_too_large')
  })

  test.each<[string, express.RequestHandler]>([
    ['was drained', (req, _res, next) => void req.resume().on('end', () => next())],
    ['is read elsewhere', (req, _res, next) => void req.once('data', () => next())],
  ])('toExpress answers body_already_consumed when the stream %s', async (_what, before) => {
    const { url, endpoints } = await behind(before)
    const reply = await call(url, { body: '{"a":1}' })
    expect(reply.status).toBe(500)
    expect(reply.json.code).toBe('body_already_consumed')
    expect(reply.json.detail).toMatch(/Mount Sallyport before what reads the body/)
    expect(endpoints.handled).toEqual([])
  })

  test('toExpress answers 401 for a drained stream without a token', async () => {
    const { url } = await behind((req, _res, next) => void req.resume().on('end', () => next()))
    expect((await call(url, { headers: { authorization: undefined }, body: '{}' })).status).toBe(401)
  })

  test('toExpress reads a stream with a text encoding set by the host', async () => {
    const { url } = await behind((req, _res, next) => {
      req.setEncoding('utf8')
      next()
    })
    const pieces = Array.from(Buffer.from('{"a":"🚢"}'), (byte) => Uint8Array.of(byte))
    expect((await call(url, { body: pieces })).json.body).toEqual({ a: '🚢' })
  })

  test('toExpress reads a body after slow middleware', async () => {
    const { url } = await behind(async (_req, _res, next) => {
      await new Promise(setImmediate)
      await new Promise(setImmediate)
      next()
    })
    expect((await call(url, { body: 'x'.repeat(70_000) })).status).toBe(413)
    expect((await call(url, { body: `"${'x'.repeat(60_000)}"` })).status).toBe(201)
  })

  test('toExpress passes an unexpected error to the error handler of the host', async () => {
    const { url } = await start((app, endpoints) => {
      endpoints.handle = async () => {
        throw new Error('broken')
      }
      app.use(toExpress({ endpoints }))
      app.use(((error, _req, res, _next) => {
        res.status(599).send(error.message)
      }) as express.ErrorRequestHandler)
    })
    const reply = await call(url, { body: '{}' })
    expect([reply.status, reply.text]).toEqual([599, 'broken'])
  })

  test('toExpress sends no second answer when the host has answered', async () => {
    let answered: express.Response | undefined
    const errors: unknown[] = []
    const { url, endpoints } = await start((app, endpoints) => {
      app.use((_req, res, next) => {
        answered = res
        next()
      }, toExpress({ endpoints }))
      app.use(((error, _req, _res, next) => {
        errors.push(error)
        next(error)
      }) as express.ErrorRequestHandler)
    })
    endpoints.onHandle = () => void answered?.status(504).send('too slow')
    const reply = await call(url, { body: '{}' })
    expect([reply.status, reply.text]).toEqual([504, 'too slow'])
    expect((await call(url, { method: 'PUT' })).status).toBe(405)
    expect(errors).toEqual([])
  })

  test('toExpress works in a server that the host created', async () => {
    const { createServer } = await import('node:http')
    const endpoints = new FakeEndpoints()
    const app = framework()
    app.use(toExpress({ endpoints }))
    const server: Server = createServer(app)
    const running = await listen(server)
    open.push(running)
    expect((await call(running.url + RUN, { body: '{}' })).status).toBe(201)
  })
})
