import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import koaMount from 'koa-mount'
import { describe, expect, test } from 'vitest'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { closedAfterEach } from '../support/hosts/closed-after-each.ts'
import { listen } from '../support/hosts/host.ts'

const RUN = '/api/agents/session/run'
const STRIPPED =
  'Unless another mount answers there: /api/agents/session/run was asked for without the basePath "/v1", so the host takes that prefix off itself. Leave basePath out.'
const BELOW =
  'Unless another mount answers there: /api/agents/session/run was asked for below another prefix than the basePath "". Give what stands before /api/ as basePath.'

const closing = closedAfterEach()

async function start(listener: Parameters<typeof listen>[0]): Promise<string> {
  return closing(await listen(listener)).url
}

const reported = ({ logger }: FakeEndpoints) =>
  logger.lines.map(({ level, event, fields }) => [level, event, fields.detail])

describe('a prefix given to both the host and Sallyport', () => {
  test('A duplicate prefix is logged once in Express', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(express().use('/v1', toExpress({ endpoints }, { basePath: '/v1' })))
    for (const path of ['/v1/elsewhere', `/v1${RUN}`, `/v1${RUN}`]) {
      expect((await call(url + path, { body: '{}' })).status).toBe(404)
    }
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', STRIPPED]])
  })

  test('A duplicate prefix is logged in Koa below koa-mount', async () => {
    const endpoints = new FakeEndpoints()
    const app = new Koa().use(koaMount('/v1', new Koa().use(toKoa({ endpoints }, { basePath: '/v1' }))))
    const url = await start(app.callback())
    expect((await call(`${url}/v1${RUN}`, { body: '{}' })).status).toBe(404)
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', STRIPPED]])
  })

  test('A duplicate prefix is logged in Hono, and is not in the answer', async () => {
    const endpoints = new FakeEndpoints()
    const app = new Hono().mount('/v1', toFetch({ endpoints }, { basePath: '/v1' }))
    const answer = await app.request(`http://host/v1${RUN}`, { method: 'POST', body: '{}' })
    expect(await answer.json()).toMatchObject({ status: 404, code: 'not_found', detail: 'No endpoint has this path.' })
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', STRIPPED]])
  })
})

describe('a mount at /api', () => {
  const removed = (adapter: string, asked = RUN, taken = '/api') =>
    `Unless another mount answers there: ${asked} was asked for, and the host took off ${taken}, which belongs to it. Mount Sallyport above, without ${taken}: ${adapter}.`

  test.each([
    ['/api/agents', RUN, '/api/agents'],
    [RUN, RUN, RUN],
    ['/v1/api/outbound', '/api/outbound/dispatch', '/api/outbound'],
    ['/api/outbound/dispatches/:id', '/api/outbound/dispatches/{dispatchId}', '/api/outbound/dispatches/{dispatchId}'],
    ['/api/outbound/unsubscribe', '/api/outbound/unsubscribe/{token}', '/api/outbound/unsubscribe'],
  ])('A mount at %s is logged in Express with the part that it took off', async (at, asked, taken) => {
    const endpoints = new FakeEndpoints()
    const url = await start(express().use(at, toExpress({ endpoints })))
    const [prefix = ''] = at.split('/api')
    expect((await call(url + prefix + asked.replace(/\{.*/, 'secret'), { body: '{}' })).status).toBe(404)
    expect(reported(endpoints)).toEqual([
      ['warn', 'mount.missed', removed('app.use(toExpress(sallyport))', asked, taken)],
    ])
  })

  test('A mount at a whole path is logged in Koa', async () => {
    const endpoints = new FakeEndpoints()
    const app = new Koa().use(koaMount(RUN, new Koa().use(toKoa({ endpoints }))))
    expect((await call(`${await start(app.callback())}${RUN}`, { body: '{}' })).status).toBe(404)
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', removed('app.use(toKoa(sallyport))', RUN, RUN)]])
  })

  test('A basePath that is /api is logged with its own reason', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(express().use(toExpress({ endpoints }, { basePath: '/api' })))
    await call(url + RUN, { body: '{}' })
    expect(reported(endpoints)).toEqual([
      [
        'warn',
        'mount.missed',
        `Unless another mount answers there: ${RUN} was asked for, and the basePath "/api" comes before /api/, with which the paths begin themselves. Leave basePath out.`,
      ],
    ])
  })

  test('A mount at /api is logged in Express with the call that works', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(express().use('/api', toExpress({ endpoints })))
    for (let times = 0; times < 2; times++) expect((await call(`${url}${RUN}?a=1`, { body: '{}' })).status).toBe(404)
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', removed('app.use(toExpress(sallyport))')]])
  })

  test('A mount at /api is logged in Koa, also below another prefix', async () => {
    const endpoints = new FakeEndpoints()
    const app = new Koa().use(koaMount('/v1/api', new Koa().use(toKoa({ endpoints }))))
    expect((await call(`${await start(app.callback())}/v1${RUN}`, { body: '{}' })).status).toBe(404)
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', removed('app.use(toKoa(sallyport))')]])
  })

  test('A mount at /api is logged in Hono, without the parameter of the path', async () => {
    const endpoints = new FakeEndpoints()
    const app = new Hono().mount('/api', toFetch({ endpoints }))
    expect((await app.request('http://host/api/outbound/dispatches/secret')).status).toBe(404)
    const detail = removed("app.mount('/', toFetch(sallyport))", '/api/outbound/dispatches/{dispatchId}')
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', detail]])
  })

  test('A mount at /api is logged if /api is the basePath too', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(express().use('/api', toExpress({ endpoints }, { basePath: '/api' })))
    await call(url + RUN, { body: '{}' })
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', removed('app.use(toExpress(sallyport))')]])
  })

  test("The host's own routes with such paths are not logged", async () => {
    const endpoints = new FakeEndpoints()
    const handle = toExpress({ endpoints })
    const url = await start(express().use('/shop', handle).use(handle))
    for (const path of ['/outbound/dispatch', '/shop/agents/runs', '/outbound/other', '/api/outbound/other'])
      await call(url + path, { method: 'GET' })
    expect(reported(endpoints)).toEqual([])
  })
})

describe('a prefix that Sallyport does not know', () => {
  test('An unknown prefix of a read is logged, without the id in its path', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(toNode({ endpoints }))
    const path = '/ops/api/agents/sessions/secret/runs/r1'
    expect((await call(url + path, { method: 'GET' })).status).toBe(404)
    const asked = '/api/agents/sessions/{sessionId}/runs/{runId}'
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', BELOW.replace(RUN, asked)]])
    for (const other of ['/api/agents/runs/r1/more', '/x/api/outbound/dispatches/a/b/c'])
      expect((await call(url + other, { method: 'GET' })).status).toBe(404)
    expect(reported(endpoints)).toHaveLength(1)
  })

  test('An unknown prefix that the host keeps is logged', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(toNode({ endpoints }))
    const reply = await call(`${url}/v1${RUN}/?a=1`, { body: '{}' })
    expect(reply.json).toMatchObject({ status: 404, detail: 'No endpoint has this path.' })
    expect(reported(endpoints)).toEqual([['warn', 'mount.missed', BELOW]])
  })

  test('The mount warning does not contain the requested path', async () => {
    const endpoints = new FakeEndpoints()
    const url = await start(toNode({ endpoints }))
    const reply = await call(`${url}/canary${RUN}`, { body: '{}' })
    expect(reply.text + JSON.stringify(reported(endpoints))).not.toContain('canary')
  })
})

describe('the prefix of an open endpoint', () => {
  const hintOf = async (path: string, basePath?: string) => {
    const endpoints = new FakeEndpoints()
    await toFetch({ endpoints }, { basePath })(new Request(`http://host${path}`, { method: 'POST', body: 'a' }))
    expect(endpoints.opened).toEqual([])
    return reported(endpoints)
  }

  test('A wrong prefix of an open endpoint is logged without its parameter', async () => {
    const hints = [
      await hintOf('/v1/api/outbound/feedback/canary/?canary=1'),
      await hintOf('/api/outbound/unsubscribe/canary', '/v1'),
    ]
    expect(hints).toEqual([
      [['warn', 'mount.missed', BELOW.replace(RUN, '/api/outbound/feedback/{name}')]],
      [['warn', 'mount.missed', STRIPPED.replace(RUN, '/api/outbound/unsubscribe/{token}')]],
    ])
  })

  test.each(['/v1/api/outbound/feedback/', '/v1/api/outbound/feedback/a/b', '/v1/api/outbound/feedback/%'])(
    'A wrong parameter is not logged as a wrong prefix: %s',
    async (path) => expect(await hintOf(path)).toEqual([]),
  )
})

describe('the number of mount warnings', () => {
  test('Each kind of wrong prefix is logged on its own', async () => {
    const endpoints = new FakeEndpoints()
    const handler = toFetch({ endpoints }, { basePath: '/a', notFound: () => new Response('The other mount') })
    for (const prefix of ['/b', '/b', '', '/c']) await handler(new Request(`http://host${prefix}${RUN}`))
    expect(reported(endpoints)).toEqual([
      ['warn', 'mount.missed', expect.stringContaining('below another prefix than the basePath "/a"')],
      ['warn', 'mount.missed', expect.stringContaining('without the basePath "/a"')],
      ['warn', 'mount.missed', expect.stringContaining('below another prefix than the basePath "/a"')],
    ])
  })

  test('At most 10 mount warnings are logged', async () => {
    const endpoints = new FakeEndpoints()
    const handler = toFetch({ endpoints })
    for (let at = 0; at < 50; at++) await handler(new Request(`http://host/${at}${RUN}`))
    expect(reported(endpoints)).toHaveLength(10)
  })
})

describe('a Sallyport mounted twice', () => {
  test.each([
    ['toExpress', toExpress],
    ['toKoa', toKoa],
    ['toNode', toNode],
  ])('A repeated %s for one Sallyport is logged', (name, adapter) => {
    const endpoints = new FakeEndpoints()
    adapter({ endpoints })
    adapter({ endpoints }, { basePath: '/v1' })
    expect(reported(endpoints)).toEqual([])
    adapter({ endpoints })
    expect(reported(endpoints)).toEqual([
      ['warn', 'mount.repeated', expect.stringContaining(`${name}() was called again for the same Sallyport`)],
    ])
  })

  test.each(['v1', '/v1', 'v1/', '/v1/'])(
    'A repeated mount is recognised by its normalized basePath: %s',
    (basePath) => {
      const endpoints = new FakeEndpoints()
      toNode({ endpoints }, { basePath: '/v1' })
      toNode({ endpoints }, { basePath })
      expect(endpoints.logger.lines).toMatchObject([{ event: 'mount.repeated' }])
    },
  )

  test('A repeated toFetch is not logged, as in file-based routing', () => {
    const endpoints = new FakeEndpoints()
    toFetch({ endpoints })
    toFetch({ endpoints })
    expect(reported(endpoints)).toEqual([])
  })
})
