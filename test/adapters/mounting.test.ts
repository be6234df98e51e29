import { describe, expect, it } from 'vitest'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'

describe.each([
  ['toExpress', toExpress],
  ['toKoa', toKoa],
  ['toFetch', toFetch],
  ['toNode', toNode],
])('mistakes at the start of %s', (_, mount) => {
  it.each([undefined, {}, Promise.resolve()])('The adapter refuses %s as a Sallyport', (odd) => {
    expect(() => mount(odd as never)).toThrow('must be what createSallyport(…) gave')
  })

  it.each(['/v1', null])('The adapter refuses the options %j', (options) => {
    expect(() => mount({ endpoints: new FakeEndpoints() }, options as never)).toThrow('must be an object of options')
  })

  it.each([5, '/v1?x', '/a b'])('The adapter refuses the basePath %j', (basePath) => {
    expect(() => mount({ endpoints: new FakeEndpoints() }, { basePath: basePath as never })).toThrow(
      'must be a plain path',
    )
  })
})

describe('a handler that gets the arguments of another host', () => {
  const endpoints = new FakeEndpoints()
  const context = { req: { raw: new Request('http://host/'), url: 'http://host/' } }

  it.each<[string, (...given: never[]) => unknown, object, string]>([
    ['toFetch', toFetch({ endpoints }), context, "app.all('/api/*', (c) => handler(c.req.raw))"],
    ['toNode', toNode({ endpoints }), new Request('http://host/'), "takes Node's (req, res)"],
    ['toExpress', toExpress({ endpoints }), { req: { url: '/' }, res: {} }, 'takes (req, res, next) of Express'],
    ['toKoa', toKoa({ endpoints }), { url: '/' }, 'takes (ctx, next) of Koa'],
  ])('The handler of %s says what it takes', async (adapter, handler, given, sentence) => {
    const calling = (async () => Reflect.apply(handler, undefined, [given, {}]))()
    await expect(calling).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining(`The handler of ${adapter}() takes`),
    })
    await expect(calling).rejects.toThrow(sentence)
  })

  it('An adapter that the host calls as its handler says how it is mounted, and no more', () => {
    const request = { url: '/', headers: {} }
    expect(() => toExpress(request as never, { writeHead: () => {} } as never)).toThrow(
      /^toExpress:\n {2}- field "sallyport": must be what createSallyport\(…\) gave: it has no endpoints; write app\.use\(toExpress\(sallyport\)\)$/,
    )
  })
})
