import { createClient, createRunRecorder } from 'sallyport/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startRecording } from './recorders.ts'
import { startScripted, stopServers, until } from './servers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await stopServers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const RECORDED = { status: 200, body: { warnings: [], results: Array(100).fill({ status: 200, warnings: [] }) } }
const runsOf = (body: unknown) => (body as { runs: { sessionId: string; run: { runId: string; seq?: number } }[] }).runs

describe('a recorder', () => {
  test('The recorder waits a second for more posts, and joins those of one run', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    recorder.start({ sessionId: 's1', runId: 'r2' })
    run.add({ steps: 1 })
    await pass(999)
    run.add({ steps: 1 })
    expect(asked).toHaveLength(0)
    await pass(1)
    await until(() => asked.length === 1)
    expect(runsOf(asked[0]?.body)).toMatchObject([
      { sessionId: 's1', run: { runId: 'r2', status: 'running' } },
      { sessionId: 's1', run: { runId: 'r1', status: 'running', counts: { steps: 2 } } },
    ])
    await recorder.close()
  })

  test('The recorder does not send recorded data again', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
    const run = recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5' })
    await recorder.flush()
    run.add({ steps: 1 })
    await recorder.flush()
    expect(runsOf(asked[1]?.body)).toEqual([
      { sessionId: 's1', run: { runId: 'r1', seq: expect.any(Number), counts: { steps: 1 } } },
    ])
    await recorder.close()
  })

  test('The recorder sends the end of a run at once, with other runs that end then', async () => {
    const { recorder, recorded, asked } = await startRecording()
    for (const runId of ['r1', 'r2']) recorder.start({ sessionId: 's1', runId }).complete()
    await until(() => recorded('r2').catch(() => undefined))
    expect(asked()).toBe(1)
    await recorder.close()
  })

  test('The recorder gives each post of a run a greater seq, from the current time if possible', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_795_000_000_000)
    const run = recorder.start({ sessionId: 's1' })
    const seqs: number[] = []
    for (let post = 0; post < 5; post++) {
      if (post === 2) now.mockReturnValue(1_794_000_000_000)
      if (post === 4) now.mockReturnValue(1_796_000_000_000)
      run.add({ steps: 1 })
      await recorder.flush()
      seqs.push(...runsOf(asked[post]?.body).map(({ run }) => run.seq ?? 0))
    }
    expect(seqs.map((seq) => seq - 1_795_000_000_000)).toEqual([1, 2, 3, 4, 1_000_000_000])
    await recorder.close()
  })

  test('The recorder sends at most 100 posts and 90 kB at a time', async () => {
    // Real timers: the host yields to the event loop between posts.
    vi.useRealTimers()
    const bodies: string[] = []
    const { recorder, sallyport, dropped, url } = await startRecording()
    const client = createClient({
      baseUrl: url,
      token: 'app',
      fetch: (to, init) => {
        bodies.push(String(init.body))
        return fetch(to, init)
      },
    })
    const own = createRunRecorder({ client, maxRuns: 500 })
    for (let run = 0; run < 250; run++) own.start({ sessionId: 's1', metadata: { run } })
    await own.flush()
    for (let run = 0; run < 9; run++)
      own.start({ sessionId: 's2', metadata: { a: '€'.repeat(512), b: '€'.repeat(512) } }).complete()
    await own.flush()
    const large = Object.fromEntries(Array.from({ length: 20 }, (_, key) => [key, '€'.repeat(512)]))
    for (let run = 0; run < 9; run++) own.start({ sessionId: 's3', metadata: large })
    await own.close()
    expect(Math.max(...bodies.map((body) => runsOf(JSON.parse(body)).length))).toBeLessThanOrEqual(100)
    expect(Math.max(...bodies.map((body) => Buffer.byteLength(body)))).toBeLessThan(90_100)
    expect(
      await Promise.all(
        ['s1', 's2', 's3'].map(async (id) => (await sallyport.runs.list({ sessionId: id, limit: 300 })).items.length),
      ),
    ).toEqual([250, 9, 9])
    expect(dropped).toEqual([])
    await recorder.close()
  })

  test('The recorder sends heartbeats for open runs, and none for ended ones', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
    const ended = recorder.start({ sessionId: 's1', runId: 'ended' })
    const open = recorder.start({ sessionId: 's1', runId: 'open' })
    await recorder.flush()
    await pass(14_999)
    expect(asked).toHaveLength(1)
    await pass(1001)
    await until(() => asked.length === 2)
    expect(runsOf(asked[1]?.body).map(({ run }) => run)).toEqual([{ runId: 'ended' }, { runId: 'open' }])
    ended.complete()
    await recorder.flush()
    await pass(15_000)
    await until(() => asked.length === 4)
    expect(runsOf(asked[3]?.body)).toEqual([{ sessionId: 's1', run: { runId: 'open' } }])
    open.complete()
    await recorder.flush()
    await pass(60_000)
    expect([asked.length, vi.getTimerCount()]).toEqual([5, 0])
  })

  test('The recorder sends no heartbeats when they are switched off', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }), heartbeatMs: 0 })
    recorder.start({ sessionId: 's1' })
    await recorder.flush()
    await pass(120_000)
    expect(asked).toHaveLength(1)
    await recorder.close()
  })

  test('close() cancels open runs, sends all posts and leaves no timer', async () => {
    const { recorder, recorded } = await startRecording()
    recorder.start({ sessionId: 's1', runId: 'r1' })
    await recorder.close()
    expect(await recorded('r1')).toMatchObject({ status: 'cancelled' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('The recorder gives waitUntil a promise for all unsent posts', async () => {
    const work: Promise<unknown>[] = []
    const { recorder, recorded } = await startRecording({ waitUntil: (promise) => work.push(promise) })
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    expect(work).toHaveLength(1)
    await Promise.all(work)
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
  })

  test('The recorder ignores an error thrown by waitUntil', async () => {
    const waitUntil = () => {
      throw new TypeError('Illegal invocation')
    }
    const { recorder, recorded } = await startRecording({ waitUntil })
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
  })
})
