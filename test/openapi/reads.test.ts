import { beforeAll, describe, expect, it } from 'vitest'
import type { ActionRoute } from '../../src/core/endpoints.ts'
import type { OpenApiResponse } from '../../src/openapi/index.ts'
import type { AuthVerifier } from '../../src/ports/auth-verifier.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { COMMON_CALLS } from '../support/actions.ts'
import { keepInEvery } from '../support/every-plugin.ts'
import { type ExampleHost, exampleHost } from './host.ts'
import { type Fit, misfits } from './lint.ts'
import { document, jsonOf, post, requestTo } from './posting.ts'

const auth: AuthVerifier = {
  async verify(token) {
    if (token === 'session') return { id: 'session', tenant: 'default', sessionId: 's1' }
    return { id: 'app', tenant: 'default', operations: ['dispatch', 'session_run', 'read', 'manage'] }
  },
}

const ADDRESS = { channel: 'email', address: 'ada@example.com' }
const BODIES: Readonly<Record<string, object>> = {
  add_suppression: { ...ADDRESS, reason: 'manual', category: 'order.shipped', expiresInMs: 1_000 },
  find_recipient: { recipient: 'user_42' },
  find_suppressions: ADDRESS,
  remove_suppressions: ADDRESS,
}

function responsesOf({ path, method }: ActionRoute): Readonly<Record<string, OpenApiResponse>> {
  const { get, post: change } = document.paths[path] ?? {}
  return ((method === 'GET' ? get : change)?.responses ?? {}) as Readonly<Record<string, OpenApiResponse>>
}

function schemaOf(route: ActionRoute, status: number, type: string): Fit['schema'] {
  const found = responsesOf(route)[status]?.content?.[type]?.schema
  if (!found) throw new Error(`${route.name} documents no ${status} ${type}`)
  return found
}

let dispatchId = ''

function pathOf({ path }: ActionRoute): string {
  return path.replace('{dispatchId}', dispatchId).replace('{sessionId}', 's1').replace('{runId}', 'r2')
}

function ask(host: ExampleHost, route: ActionRoute, query = '', more: object = {}): Promise<Response> {
  const body = JSON.stringify(BODIES[route.name] ?? {})
  return host.fetch(requestTo(pathOf(route) + query, { method: route.method, body, ...more }))
}

const QUERIES: Readonly<Record<string, string>> = { get_dispatch: '?content=true', check_budgets: '?sessionId=s1' }

describe('the read API in the document', () => {
  let host: ExampleHost
  beforeAll(async () => {
    const busy = { address: () => 'there', send: async () => ({ outcome: 'rejected' as const, code: 'no' }) }
    host = exampleHost({
      auth,
      channels: { email: busy, sms: busy, push: busy },
      pluginOptions: { consent: {} },
    })
    const event = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }
    dispatchId = String(
      (await jsonOf(await post(host, '/api/outbound/dispatch', { ...event, sessionId: 's1' }))).dispatchId,
    )
    const error = { type: 'timeout', message: 'too slow' }
    const cost = { amount: '0.5', currency: 'USD', source: 'client' }
    const timings = {
      startedAt: '2026-11-21T07:00:00Z',
      endedAt: '2026-11-21T07:00:09Z',
      activeMs: 5,
      timeToFirstTokenMs: 5,
    }
    for (const [runId, more] of [
      ['r1', {}],
      ['r2', { parentRunId: 'r1', status: 'failed', error, cost, timings }],
    ] as const)
      await post(host, '/api/agents/session/run', {
        sessionId: 's1',
        run: { runId, provider: 'openai', model: 'gpt-5', counts: { inputTokens: 1, outputTokens: 2 }, ...more },
      })
    await post(host, '/api/agents/session/run', { sessionId: 's2', run: { runId: 'r1' } }, { token: 'session' })
    await host.sallyport.worker.runDue()
    const { sallyport, store } = host
    const whose = { tenant: 'default', recipient: ADDRESS.address, deliveryId: 'dlv_1' }
    await keepInEvery({ sallyport, store, ...whose, text: 'code' })
  })

  it('The schemas fit every answer of a real host, and its parts have no other field', async () => {
    const fits: Fit[] = []
    for (const route of COMMON_CALLS) {
      const query = QUERIES[route.name] ?? ''
      const answer = await ask(host, route, query)
      expect([route.name, answer.status]).toEqual([route.name, 200])
      const value = await jsonOf(answer)
      expect([route.name, Object(value.items ?? [1]).length > 0]).toEqual([route.name, true])
      fits.push({ schema: schemaOf(route, 200, 'application/json'), value })
      fits.push({ schema: schemaOf(route, 200, 'application/json'), value: { ...value, more: 1 } })
    }
    const found = [...(await misfits(fits, 'known')).keys()]
    // Exactly the copies with another field do not fit.
    expect(found.sort((a, b) => a - b)).toEqual(fits.flatMap((_, at) => (at % 2 === 1 ? at : [])))
  })

  it('Every refusal is documented for its route', async () => {
    const down = { ...memoryStore(), findSession: async () => Promise.reject(new Error('down')) }
    const refusals: readonly [string, object, ExampleHost][] = [
      ['?unknown=1', {}, host],
      ['', { token: 'session' }, host],
      ['', { token: undefined }, host],
      ['', { method: 'PUT' }, host],
      ['', {}, exampleHost({ auth, store: down })],
    ]
    const fits: Fit[] = []
    for (const route of COMMON_CALLS)
      for (const [query, more, asked] of refusals) {
        const answer = await ask(asked, route, query, more)
        if (answer.ok) continue
        fits.push({ schema: schemaOf(route, answer.status, 'application/problem+json'), value: await jsonOf(answer) })
      }
    expect(fits.length).toBeGreaterThan(4 * COMMON_CALLS.length)
    expect(await misfits(fits, 'known')).toEqual(new Map())
  })

  it('Every parameter has a description and a schema', () => {
    const described = COMMON_CALLS.flatMap(({ path }) => {
      const { get, post: change } = document.paths[path] ?? {}
      return (get ?? change)?.parameters ?? []
    })
    expect(described.length).toBeGreaterThan(40)
    for (const parameter of described) {
      expect(parameter).toMatchObject({ description: expect.stringMatching(/../), schema: expect.anything() })
    }
  })
})
