import { type HandlerRequest, handleDispatch, handleSessionRun } from 'sallyport'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type TestRequest, testRequest } from '../../src/contract-tests/test-request.ts'
import { testDeps } from '../support/deps.ts'

const DISPATCH = {
  eventType: 'order.shipped',
  recipient: 'jane@example.com',
  eventData: { orderId: 'A1', total: 5 },
  sessionId: 's1',
}

describe('a request for a test', () => {
  it('testRequest returns what handlers take', () => {
    expectTypeOf<TestRequest>().toEqualTypeOf<HandlerRequest>()
    const request: HandlerRequest = testRequest()
    expect(request).toEqual({ headers: {}, body: {} })
  })

  it('Both handlers answer a test request', async () => {
    const deps = testDeps()
    const dispatched = await handleDispatch(testRequest({ token: 'app', body: DISPATCH }), deps)
    expect(dispatched.status).toBe(202)
    const run = { sessionId: 's1', run: { runId: 'r1', status: 'completed' } }
    expect((await handleSessionRun(testRequest({ token: 'app', body: run }), deps)).status).toBe(201)
  })

  it('testRequest adds the token, the query and the headers', async () => {
    const deps = testDeps()
    const request = testRequest({
      token: 'app',
      body: DISPATCH,
      headers: { 'Idempotency-Key': 'k1' },
      query: { dryRun: 'true' },
    })
    expect(request).toEqual({
      headers: { authorization: 'Bearer app', 'idempotency-key': 'k1' },
      body: DISPATCH,
      query: { dryRun: 'true' },
    })
    expect((await handleDispatch(request, deps)).status).toBe(200)
    expect((await deps.store.listDispatches({ tenant: 'default', limit: 9 })).items).toEqual([])
  })

  it('A test request without a known token is answered with 401', async () => {
    const deps = testDeps()
    for (const request of [testRequest({ body: DISPATCH }), testRequest({ token: 'no', body: DISPATCH })])
      expect((await handleDispatch(request, deps)).status).toBe(401)
  })

  it('testRequest takes any body and any authorization', () => {
    for (const body of [null, 'text', 7, []]) expect(testRequest({ body }).body).toEqual(body)
    const headers = { Authorization: 'Basic abc', 'X-Many': ['a', 'b'] }
    expect(testRequest({ headers }).headers).toEqual({ authorization: 'Basic abc', 'x-many': ['a', 'b'] })
  })
})
