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
