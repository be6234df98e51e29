import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { afterEach, describe, expect, test } from 'vitest'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { express4 } from '../support/hosts/express4.ts'
import { listen, type RunningHost } from '../support/hosts/host.ts'
import { Koa2 } from '../support/hosts/koa.ts'

const RUN = '/api/agents/session/run'
const open: Pick<RunningHost, 'close'>[] = []
afterEach(async () => {
  for (const running of open.splice(0)) await running.close()
})

/** Sends one accepted request, two refused ones and one to the host. */
async function callAll(url: string): Promise<void> {
  const statuses = []
  for (const sent of [{ body: '{}' }, { body: '{' }, { method: 'PUT' }]) {
    statuses.push((await call(url + RUN, sent)).status)
  }
  expect(statuses).toEqual([201, 400, 405])
  await call(`${url}/own`, { method: 'GET' })
}

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('the settings of %s', (_name, framework) => {
  test('toExpress leaves the settings of the host and its answers unchanged', async () => {
    const app = framework()
    app.set('query parser', 'simple').set('trust proxy', 1)
    const [settings, locals] = [{ ...app.settings }, { ...app.locals }]
    app.use(toExpress({ endpoints: new FakeEndpoints() }))
    app.get('/own', (_req, res) => void res.json({ own: 1 }))
    const running = await listen(app)
    open.push(running)
    await callAll(running.url)
    expect(app.settings).toEqual(settings)
    expect(app.locals).toEqual(locals)
    const { headers } = await call(`${running.url}/own`, { method: 'GET' })
    expect(headers).toMatchObject({ 'x-powered-by': 'Express', etag: expect.any(String) })
  })
})

describe.each([
  ['Koa 3', Koa],
  ['Koa 2', Koa2],
])('the properties of %s', (_name, Framework) => {
  test('toKoa leaves the properties of the host unchanged', async () => {
    const app = new Framework({ proxy: true, keys: ['key'] })
    const { middleware, ...before } = { ...app }
    app.use(toKoa({ endpoints: new FakeEndpoints() }))
    const running = await listen(app.callback())
    open.push(running)
    await callAll(running.url)
    const after: Record<string, unknown> = { ...app }
    // Koa's `callback()` adds an error listener.
    for (const own of ['middleware', '_events', '_eventsCount']) delete after[own]
    expect(before).toMatchObject(after)
    expect(middleware).toHaveLength(1)
    for (const part of ['context', 'request', 'response'] as const) expect(Object.keys(app[part])).toEqual([])
  })
})

describe('Fastify', () => {
  async function start(mounted: boolean): Promise<{ app: FastifyInstance; url: string; hooks: string[] }> {
    const app = Fastify()
    const hooks: string[] = []
    app.addHook('onRequest', async ({ method }) => void hooks.push(`onRequest ${method}`))
    app.addHook(
      'onResponse',
      async ({ method }, { statusCode }) => void hooks.push(`onResponse ${method} ${statusCode}`),
    )
    const handle = toNode({ endpoints: new FakeEndpoints() })
    if (mounted) {
      app.register(async (scope) => {
        scope.addHook(
          'onRequest',
          ({ raw }, reply, done) => void handle(raw, reply.raw, (error) => done(error as Error)),
        )
        scope.all('/api/*', (_request, reply) => reply.callNotFound())
      })
    }
    app.post('/own', async ({ body }) => ({ own: body }))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    open.push({ close: () => app.close() })
    return { app, url, hooks }
  }

  test('toNode leaves the parsers and routes of Fastify unchanged', async () => {
    const [bare, host] = [await start(false), await start(true)]
    await callAll(host.url)
    expect(host.app.initialConfig).toEqual(bare.app.initialConfig)
    for (const type of ['application/json', 'text/plain', '*']) {
      expect(host.app.hasContentTypeParser(type)).toBe(bare.app.hasContentTypeParser(type))
    }
    for (const sent of [
      { body: '{"a":1}' },
      { body: '{"a":' },
      { body: 'x', headers: { 'content-type': 'application/x-other' } },
      { body: `"${'x'.repeat(1_048_577)}"` },
      { method: 'PUT', body: '{}' },
    ]) {
      const [{ status, text }, own] = [await call(`${bare.url}/own`, sent), await call(`${host.url}/own`, sent)]
      expect([own.status, own.text]).toEqual([status, text])
    }
  })

  test('The hooks of Fastify run for answers of Sallyport', async () => {
    const { url, hooks } = await start(true)
    await call(url + RUN, { body: '{}' })
    await call(url + RUN, { method: 'PUT' })
    expect((await call(`${url}/api/elsewhere`, { body: '{}' })).json).toMatchObject({ statusCode: 404 })
    const answered = ['onRequest POST', 'onResponse POST 201', 'onRequest PUT', 'onResponse PUT 405']
    expect(hooks.slice(0, 4)).toEqual(answered)
  })
})

test('toFetch leaves the routes of Hono unchanged', async () => {
  const app = new Hono()
  const handler = toFetch({ endpoints: new FakeEndpoints() })
  app.all('/api/*', (c) => handler(c.req.raw))
  const routes = app.routes.map(({ method, path }) => `${method} ${path}`)
  await app.request(RUN, { method: 'PUT' })
  expect(app.routes.map(({ method, path }) => `${method} ${path}`)).toEqual(routes)
})
