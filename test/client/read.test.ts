import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isClientError } from '../../src/client/read.ts'
import { type ReadHost, readHost } from './read-host.ts'

let host: ReadHost
let read: ReadHost['read']

beforeEach(async () => {
  host = await readHost()
  read = host.read
})
afterEach(() => host.sallyport.stop())

describe('a client of the read API', () => {
  it('A client lists, reads, cancels and retries dispatches', async () => {
    const ids = [await host.dispatched(), await host.dispatched()]
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
    expect(await read.sessions.get('s/1')).toEqual(await host.sallyport.sessions.get('s/1'))
    expect((await read.sessions.timeline('s/1', { limit: 1 })).items).toHaveLength(1)
    expect((await read.runs.list({ sessionId: 's/1', first: 'oldest' })).items.map(({ runId }) => runId)).toEqual([
      'r1',
      'r2',
    ])
    expect(await read.runs.get({ sessionId: 's/1', runId: 'r2' })).toMatchObject({ runId: 'r2' })
  })

  it('A client reads the catalogue', async () => {
    expect((await read.events()).items).toMatchObject([{ eventType: 'hello' }])
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
    expect(host.sent).toEqual([])
  })
})
