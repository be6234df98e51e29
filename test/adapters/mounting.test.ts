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
])('%s stops the start', (_, mount) => {
  it.each([undefined, {}, Promise.resolve()])('when it is given %s for a Sallyport', (odd) => {
    expect(() => mount(odd as never)).toThrow('must be what createSallyport(…) gave')
  })

  it.each(['/v1', null])('when its options are %j', (options) => {
    expect(() => mount({ endpoints: new FakeEndpoints() }, options as never)).toThrow('must be an object of options')
  })

  it.each([5, '/v1?x', '/a b'])('when its basePath is %j', (basePath) => {
    expect(() => mount({ endpoints: new FakeEndpoints() }, { basePath: basePath as never })).toThrow(
      'must be a plain path',
    )
  })
})
