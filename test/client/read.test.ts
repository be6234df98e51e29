import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createReadClient, isClientError, type ReadClient } from '../../src/client/read.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { type AlertsApi, agentTokens, alerts, type ConsentApi, consent, statistics } from '../../src/plugins/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const events = defineEvents({ hello: { channels: { email: { subject: () => 'Hello', text: () => 'Hello' } } } })

let sallyport: Sallyport & AlertsApi & ConsentApi
let read: ReadClient
let sent: Request[]

beforeEach(async () => {
  const clock = fakeClock()
  sallyport = createSallyport({
    ...{ events, clock, store: memoryStore({ clock }), logger: recordingLogger() },
    auth: { verify: async () => ({ id: 'support', tenant: 'default', operations: ['read', 'manage', 'session_run'] }) },
    channels: { email: recordingChannel() },
    plugins: [
      consent({ keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] }),
      statistics(),
      agentTokens(),
      alerts(),
    ],
  })
  const handle = toFetch(sallyport, { basePath: '/v1' })
  sent = []
  read = createReadClient({
    baseUrl: 'http://shop.test/v1',
    token: 'secret',
    retries: 0,
    fetch: async (url, init) => {
      const request = new Request(url, init)
      sent.push(request.clone())
      return handle(request)
    },
  })
  for (const runId of ['r1', 'r2']) {
    await handle(
      new Request('http://shop.test/v1/api/agents/session/run', {
        method: 'POST',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 's/1', run: { runId } }),
      }),
    )
  }
})
afterEach(() => sallyport.stop())

async function dispatched(): Promise<string> {
  const result = await sallyport.dispatch({ eventType: 'hello', recipient: 'jane@example.com' } as never)
  if (!result.ok) throw new Error(result.body.code)
  return result.body.dispatchId
}

describe('a client of the read API', () => {
  it('A client lists, reads, cancels and retries dispatches', async () => {
    const ids = [await dispatched(), await dispatched()]
    const first = await read.dispatches.list({ limit: 1, since: new Date(0), channel: 'email', status: 'queued' })
    expect(first.items.map(({ dispatchId }) => dispatchId)).toEqual([ids[1]])
    expect((await read.dispatches.list({ limit: 1, cursor: first.next })).items[0]?.dispatchId).toBe(ids[0])
    expect((await read.dispatches.list({ reason: 'suppressed' })).items).toEqual([])
    const [id = ''] = ids
    expect((await read.dispatches.get(id, { content: true })).deliveries[0]?.content).toMatchObject({ text: 'Hello' })
    expect((await read.dispatches.cancel(id)).cancelled).toHaveLength(1)
    expect(await read.dispatches.retry(id, { channel: 'email' })).toMatchObject({ retried: [], unplanned: [] })
  })

  it('A client lists and reads sessions and runs', async () => {
    expect((await read.sessions.list()).items).toMatchObject([{ sessionId: 's/1', runs: { total: 2 } }])
    expect(await read.sessions.get('s/1')).toEqual(await sallyport.sessions.get('s/1'))
    expect((await read.sessions.timeline('s/1', { limit: 1 })).items).toHaveLength(1)
    expect((await read.runs.list({ sessionId: 's/1', first: 'oldest' })).items.map(({ runId }) => runId)).toEqual([
      'r1',
      'r2',
    ])
    expect(await read.runs.get({ sessionId: 's/1', runId: 'r2' })).toMatchObject({ runId: 'r2' })
    expect(await read.tokens.uses({ outcome: 'refused' })).toEqual({ items: [] })
  })

  it('A client reads the catalogue, budgets and statistics', async () => {
    await dispatched()
    expect((await read.events()).items).toMatchObject([{ eventType: 'hello' }])
    expect(await read.budgets({ sessionId: 's/1', userId: 'u1' })).toEqual(
      await sallyport.budgets.check({ sessionId: 's/1', userId: 'u1' }),
    )
    const { buckets } = await read.stats({ window: '10m', step: '5m' })
    expect([buckets.length, buckets.reduce((sum, { accepted }) => sum + accepted, 0)]).toEqual([2, 1])
  })

  it('A client changes and finds suppressions, and puts no address in a URL', async () => {
    const address = 'jane@example.com'
    expect(await read.suppressions.add({ channel: 'email', address })).toEqual({ added: true })
    expect((await read.suppressions.find({ address })).items).toMatchObject([{ reason: 'manual' }])
    expect((await read.suppressions.list({ reason: 'manual' })).items).toHaveLength(1)
    expect(await read.recipients.find({ recipient: address })).toMatchObject({ addresses: [{ channel: 'email' }] })
    const [{ addressKey = '' } = {}] = (await read.suppressions.find({ address })).items
    expect((await read.suppressions.find({ addressKey })).items).toHaveLength(1)
    expect(await read.suppressions.remove({ addressKey })).toEqual({ removed: 1 })
    expect(sent.filter(({ url }) => url.includes('jane'))).toEqual([])
  })

  it('A refusal rejects with the code of the problem', async () => {
    const codeOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'none',
        (error) => (isClientError(error) ? error.code : error),
      )
    expect(await codeOf(read.dispatches.get('dsp_1'))).toBe('not_found')
    expect(await codeOf(read.sessions.get('s9'))).toBe('session_not_found')
    expect(await codeOf(read.dispatches.list({ limit: 201 }))).toBe('query_invalid')
    expect(await codeOf(read.dispatches.list({ reason: 'unwell' as never }))).toBe('query_invalid')
    expect(await codeOf(read.dispatches.list({ statsu: 'sent' } as never))).toBe('query_invalid')
  })

  it('An abort rejects with its reason', async () => {
    const reason = new Error('enough')
    await expect(read.runs.list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(sent).toEqual([])
  })
})
