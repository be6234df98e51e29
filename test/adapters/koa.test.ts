import { bodyParser } from '@koa/bodyparser'
import Koa from 'koa'
import { afterEach, describe, expect, test } from 'vitest'
import { toKoa } from '../../src/adapters/koa.ts'
import { call, half } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { listen } from '../support/hosts/host.ts'
import { Koa2 } from '../support/hosts/koa.ts'

const RUN = '/api/agents/session/run'

describe.each([
  ['Koa 3', Koa],
  ['Koa 2', Koa2],
])('%s', (_name, Framework) => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })
  /** Mounts Sallyport after middleware of the host. */
  async function behind(before: Koa.Middleware): Promise<{ url: string; endpoints: FakeEndpoints; app: Koa }> {
    const app = new Framework()
    const endpoints = new FakeEndpoints()
    app.use(before).use(toKoa({ endpoints }))
    const running = await listen(app.callback())
    open.push(running)
    return { url: running.url + RUN, endpoints, app }
  }

  test('toKoa lets outer middleware read and change the answer', async () => {
    const seen: unknown[] = []
    const { url } = await behind(async (ctx, next) => {
      ctx.set('vary', 'origin')
      await next()
      seen.push(ctx.status, ctx.type, typeof ctx.body)
      ctx.set('x-after', '1')
    })
    const reply = await call(url, { body: '{"a":"ü"}' })
    expect(seen).toEqual([201, 'application/json', 'string'])
    expect(reply.headers).toMatchObject({ vary: 'origin', 'x-after': '1', 'content-type': 'application/json' })
    expect(Number(reply.headers['content-length'])).toBe(reply.bytes.byteLength)
  })

  test('toKoa works below a prefix removed by other middleware', async () => {
    const { url } = await behind((ctx, next) => {
      ctx.path = ctx.path.replace('/v1', '')
      return next()
    })
    expect((await call(`${url.replace('/api/', '/v1/api/')}?a=1`, { body: '{}' })).json.query).toEqual({ a: '1' })
  })

  test('toKoa reads the stream that the parser skipped', async () => {
    const { url } = await behind(bodyParser({ enableTypes: ['form'] }))
    expect((await call(url, { body: '{"a":1}' })).json.body).toEqual({ a: 1 })
  })

  test('toKoa parses text read by the parser', async () => {
    const { url } = await behind(bodyParser({ enableTypes: ['text'], extendTypes: { text: ['application/json'] } }))
    expect((await call(url, { body: '{"a":1}' })).json.body).toEqual({ a: 1 })
  })

  test('toKoa answers body_already_consumed for a drained stream', async () => {
    const { url } = await behind(async (ctx, next) => {
      for await (const _chunk of ctx.req);
      await next()
    })
    const reply = await call(url, { body: '{"a":1}' })
    expect(reply.json).toMatchObject({
      status: 500,
      code: 'body_already_consumed',
      detail: /ctx\.request\.body \(Koa\)/,
    })
  })

  test('toKoa ends the connection when the response throws while a body arrives', async () => {
    const broken = new Error('wrapped wrongly')
    const { url, app } = await behind((ctx, next) => {
      ctx.res.write = () => {
        throw broken
      }
      return next()
    })
    const errors: unknown[] = []
    app.silent = true
    app.on('error', (error) => void errors.push(error))
    const { reply } = half(url, '{', { authorization: 'Bearer bad' })
    await expect(reply).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(errors).toEqual([broken])
  })

  test('toKoa throws an unexpected error to outer middleware', async () => {
    const { url, endpoints } = await behind(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        ctx.status = 599
        ctx.body = String(error)
      }
    })
    endpoints.handle = async () => {
      throw new Error('broken')
    }
    const reply = await call(url, { body: '{}' })
    expect([reply.status, reply.text]).toEqual([599, 'Error: broken'])
  })
})
