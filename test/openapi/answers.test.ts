import { beforeAll, describe, expect, it } from 'vitest'
import { EXCHANGES } from '../../src/openapi/exchanges.ts'
import { ALL_POSTS } from '../support/actions.ts'
import { type ExampleHost, exampleHost } from './host.ts'
import { type Fit, misfits } from './lint.ts'
import { document, headersOf, jsonOf, pathOf, post, responseOf } from './posting.ts'

const COST = { amount: '0.50', currency: 'USD', source: 'client', pricingVersion: 'v1' }
const FULL_RUN = {
  sessionId: 's1',
  run: {
    runId: 'r1',
    seq: 2,
    status: 'failed',
    provider: 'openai',
    model: 'gpt-5',
    responseModel: 'gpt-5-mini',
    parentRunId: 'p1',
    resumedFromRunId: 'r0',
    attempt: 2,
    agent: { id: 'a', name: 'support', version: '1' },
    timings: { queuedAt: '2026-11-21T07:00:00Z', startedAt: 1795244400000, endedAt: '2026-11-21T07:00:09Z', toolMs: 5 },
    counts: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 20, own_count: 3 },
    countsScope: 'tree',
    usageByModel: [{ provider: 'openai', model: 'gpt-5', counts: { inputTokens: 10, outputTokens: 2 }, cost: COST }],
    cost: COST,
    finishReason: 'stop',
    error: { type: 'timeout', message: 'too slow', code: 'E1', retryable: true },
    trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
    userId: 'user_42',
    environment: 'test',
    tags: ['a'],
    metadata: { text: 'x', number: 1.5, flag: true },
  },
}

/** Examples of the endpoints that there are. */
const OFFERED = EXCHANGES.filter(({ action }) => ALL_POSTS.some(({ name }) => name === action))

describe('the examples of the document', () => {
  let host: ExampleHost
  beforeAll(() => {
    host = exampleHost()
  })

  it.each(OFFERED)('A host answers the example $name of $action exactly', async (exchange) => {
    const { action, headers = {}, query, request, status, answer } = exchange
    const path = pathOf(action)
    const reply = await post(host, query === undefined ? path : `${path}?${query}`, request, { headers })
    expect([reply.status, await reply.json()]).toEqual([status, answer])

    const { may, must } = headersOf(document, responseOf(document, path, status))
    const sent = [...reply.headers.keys()].filter((name) => !name.startsWith('content-'))
    expect(may).toEqual(expect.arrayContaining(sent))
    expect(sent).toEqual(expect.arrayContaining(must))
  })

  it('Every successful answer of the document has an example', () => {
    const statuses = ALL_POSTS.flatMap(({ path }) =>
      Object.keys(document.paths[path]?.post?.responses ?? {}).flatMap((status) =>
        status.startsWith('2') ? `${path} ${status}` : [],
      ),
    )
    const shown = OFFERED.map(({ action, status }) => `${pathOf(action)} ${status}`)
    expect([...new Set(shown)].sort()).toEqual(statuses.sort())
  })
})

const DISPATCH = pathOf('dispatch')
const RUN = pathOf('session_run')
const BATCH = pathOf('session_run_batch')
const event = { eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 100 } }

/** Posts whose answers contain all possible fields. */
const posts: readonly {
  readonly path: string
  readonly query?: string
  readonly body: object
  readonly status: number
}[] = [
  { path: DISPATCH, body: { ...event, unknown: 1 }, status: 202 },
  { path: DISPATCH, query: '?dryRun=true', body: { ...event, sessionId: 's1' }, status: 200 },
  { path: DISPATCH, query: '?dryRun=true', body: { ...event, recipient: '+4915112345678' }, status: 200 },
  { path: RUN, body: FULL_RUN, status: 201 },
  {
    path: RUN,
    body: { sessionId: 's1', run: { ...FULL_RUN.run, seq: 1, status: 'running', tags: ['b'] } },
    status: 200,
  },
  {
    path: RUN,
    body: { sessionId: 's1', run: { runId: 'r2', status: 'waiting', waitingFor: 'auth', usage: { a: 1 } } },
    status: 201,
  },
  { path: BATCH, body: { runs: [FULL_RUN, 1, { sessionId: 's2', run: { runId: 'r2' } }], more: true }, status: 200 },
]

/** Objects with names chosen by the caller. */
const OPEN = ['content', 'metadata', 'counts']

/** Copies of the value, each with one unknown field in one of its objects. */
function withUnknownField(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => withUnknownField(item).map((more) => value.with(index, more)))
  }
  if (typeof value !== 'object' || value === null) return []
  const deeper = Object.entries(value).filter(([key]) => !OPEN.includes(key))
  return [
    { ...value, more: 'unknown' },
    ...deeper.flatMap(([key, member]) => withUnknownField(member).map((more) => ({ ...value, [key]: more }))),
  ]
}

describe('the schemas of the document', () => {
  it('The schemas fit the answers of a real host, and allow no other field', async () => {
    const host = exampleHost()
    const fits: Fit[] = []
    for (const { path, query = '', body, status } of posts) {
      const reply = await post(host, path + query, body)
      expect(reply.status).toBe(status)
      const { schema = {} } = responseOf(document, path, status).content?.['application/json'] ?? {}
      fits.push({ schema, value: await jsonOf(reply) })
    }
    expect(await misfits(fits, 'known')).toEqual(new Map())
    const more = fits.flatMap(({ schema, value }) => withUnknownField(value).map((wrong) => ({ schema, value: wrong })))
    const found = await misfits(more, 'known')
    expect(more.filter((_, index) => !found.has(index))).toEqual([])
    expect(more.length).toBeGreaterThan(30)
  })

  it('The schema of a delivery fits one with an attempt', async () => {
    const busy = { address: () => 'there', send: async () => ({ outcome: 'retry' as const, code: 'busy' }) }
    const host = exampleHost({ channels: { email: busy, sms: busy, push: busy } })
    const { dispatchId } = await jsonOf(await post(host, DISPATCH, event))
    await host.sallyport.worker.runDue()
    const { deliveries = [] } = (await host.sallyport.dispatches.get(String(dispatchId))) ?? {}
    expect(deliveries[0]?.attemptLog).toHaveLength(1)
    const schema = { $ref: '#/components/schemas/Delivery' }
    expect(
      await misfits(
        deliveries.map((value) => ({ schema, value })),
        'known',
      ),
    ).toEqual(new Map())
  })
})
