import { createClient } from 'sallyport/client'
import { afterEach, describe, expect, test } from 'vitest'
import { type events, startHost, stopServers } from './servers.ts'

afterEach(stopServers)

const SHIPPED = {
  eventType: 'order.shipped',
  recipient: 'jane@example.com',
  eventData: { orderId: 'A-1', total: 20 },
} as const

describe('a client', () => {
  test('The client dispatches an event of the catalogue', async () => {
    const { url, sallyport } = await startHost()
    const client = createClient<typeof events>({ baseUrl: url, token: 'app' })
    const answer = await client.dispatch({ ...SHIPPED, sessionId: 's1' })
    expect(answer).toMatchObject({ eventType: 'order.shipped', sessionId: 's1', duplicate: false, status: 'queued' })
    expect((await sallyport.dispatches.list()).items).toHaveLength(1)
  })

  test('The client previews an event, and the host stores nothing', async () => {
    const { url, sallyport } = await startHost()
    const client = createClient<typeof events>({ baseUrl: url, token: 'app' })
    const { dryRun, deliveries } = await client.preview(SHIPPED)
    expect(dryRun).toBe(true)
    expect(deliveries[0]?.content).toMatchObject({ subject: 'Order A-1 shipped' })
    expect((await sallyport.dispatches.list()).items).toEqual([])
  })

  test('The client gives every dispatch its own idempotency key, or takes one', async () => {
    const { url, sallyport } = await startHost()
    const client = createClient({ baseUrl: url, token: 'app' })
    const event = { eventType: 'ping', recipient: 'jane@example.com' }
    const ids = [await client.dispatch(event), await client.dispatch(event)].map(({ dispatchId }) => dispatchId)
    expect(new Set(ids).size).toBe(2)
    const first = await client.dispatch(event, { idempotencyKey: 'once' })
    const second = await client.dispatch(event, { idempotencyKey: 'once' })
    expect([first.duplicate, second.duplicate]).toEqual([false, true])
    expect(second.dispatchId).toBe(first.dispatchId)
    expect((await sallyport.dispatches.list()).items).toHaveLength(3)
  })

  test('The client dispatches once when the answer to the first attempt is lost', async () => {
    let answers = 0
    const { url, sallyport, asked } = await startHost({}, (request, response) => {
      answers += 1
      if (answers === 1) response.end = () => Object.assign(response, { lost: request.socket.destroy() })
      return false
    })
    const client = createClient<typeof events>({ baseUrl: url, token: 'app' })
    expect(await client.dispatch(SHIPPED)).toMatchObject({ duplicate: true })
    expect(asked()).toBe(2)
    expect((await sallyport.dispatches.list()).items).toHaveLength(1)
  })

  test('The client records a run and returns its state', async () => {
    const { url } = await startHost()
    const client = createClient({ baseUrl: url, token: 'app' })
    const post = { sessionId: 's1', run: { runId: 'r1', status: 'completed', counts: { inputTokens: 3 } } }
    expect(await client.recordRun(post)).toMatchObject({ created: true, run: { runId: 'r1', status: 'completed' } })
    expect(await client.recordRun(post)).toMatchObject({ created: false, changed: false })
  })

  test('The client records several runs, with a result for each', async () => {
    const { url } = await startHost()
    const client = createClient({ baseUrl: url, token: 'app' })
    const { results } = await client.recordRuns([
      { sessionId: 's1', run: { runId: 'r1' } },
      { sessionId: 's1', run: { runId: 'no such id' } },
    ])
    expect(results).toMatchObject([
      { status: 201, created: true },
      { status: 422, problem: { code: 'validation_failed' } },
    ])
    expect(results[0]).not.toHaveProperty('run')
  })

  test.each(['', '/'])('The client takes a base URL with a path, as a string or a URL: /v1%s', async (end) => {
    const { url } = await startHost({ basePath: '/v1' })
    for (const baseUrl of [`${url}/v1${end}`, new URL(`${url}/v1${end}`)]) {
      const client = createClient<typeof events>({ baseUrl, token: 'app' })
      expect(await client.dispatch(SHIPPED)).toMatchObject({ status: 'queued' })
    }
  })

  test('The client calls an asynchronous token function for every call', async () => {
    const { url } = await startHost()
    const tokens = ['app', 'nobody']
    const client = createClient<typeof events>({ baseUrl: url, token: async () => tokens.shift() ?? '' })
    await client.dispatch(SHIPPED)
    await expect(client.dispatch(SHIPPED)).rejects.toMatchObject({ code: 'invalid_token', status: 401 })
  })

  test('The client uses the given fetch', async () => {
    const urls: string[] = []
    const { url } = await startHost()
    const own = (to: string, init: RequestInit): Promise<Response> => {
      urls.push(to)
      return fetch(to, init)
    }
    await createClient<typeof events>({ baseUrl: url, token: 'app', fetch: own }).dispatch(SHIPPED)
    expect(urls).toEqual([`${url}/api/outbound/dispatch`])
  })
})
