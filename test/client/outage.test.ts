import { type ClientOptions, createClient, createRunRecorder } from 'sallyport/client'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { startRecording } from './recorders.ts'
import { startScripted, stopServers, until } from './servers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await stopServers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Of a client that has no network. */
function offline(): { calls: number; readonly fetch: NonNullable<ClientOptions['fetch']> } {
  const counter = {
    calls: 0,
    async fetch() {
      counter.calls += 1
      throw new TypeError('fetch failed')
    },
  }
  return counter
}

describe('while the server is away', () => {
  test('what runs tell is kept, and recorded once it is back', async () => {
    await withoutStrayRejections(async () => {
      const { recorder, recorded, close, reopen, dropped, asked } = await startRecording()
      const before = recorder.start({ sessionId: 's1', runId: 'before', model: 'gpt-5' })
      before.add({ steps: 1 })
      await recorder.flush()
      await close()
      before.add({ steps: 1 })
      before.complete()
      await recorder.flush()
      const during = recorder.start({ sessionId: 's1', runId: 'during' })
      for (let step = 0; step < 500; step++) during.add({ steps: 1 })
      during.update({ model: 'gpt-5-mini' })
      during.fail(new Error('no'))
      await recorder.flush()
      await reopen()
      const inVain = asked()
      await pass(60_000)
      await until(() => asked() > inVain)
      await recorder.flush()
      expect(await recorded('before')).toMatchObject({ status: 'completed', model: 'gpt-5', counts: { steps: 2 } })
      expect(await recorded('during')).toMatchObject({ status: 'failed', model: 'gpt-5-mini', counts: { steps: 500 } })
      expect(dropped).toEqual([])
      await recorder.close()
    })
  })

  test('it is asked less and less often, and not by every run that ends', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    const network = offline()
    const client = createClient({ baseUrl: 'http://host.example', token: 'app', retries: 0, fetch: network.fetch })
    const recorder = createRunRecorder({ client })
    recorder.start({ sessionId: 's1' }).complete()
    const calls: number[] = []
    for (let minute = 0; minute < 10; minute++) {
      const before = network.calls
      for (let second = 0; second < 60; second++) {
        recorder.start({ sessionId: 's1' }).complete()
        await pass(1000)
      }
      calls.push(network.calls - before)
    }
    expect(calls[0]).toBeLessThan(8)
    expect(Math.max(...calls.slice(2))).toBe(1)
    await recorder.close()
  })

  test('it is left alone for as long as it asks to be', async () => {
    const problem = { type: 'urn:sallyport:problem:store_unavailable', code: 'store_unavailable', status: 503 }
    const down = { status: 200, body: { warnings: [], results: [{ status: 503, problem, retryAfterMs: 90_000 }] } }
    const up = { status: 200, body: { warnings: [], results: [{ status: 201, warnings: [] }] } }
    const { url, asked } = await startScripted(down, up)
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    await recorder.flush()
    await pass(89_000)
    expect(asked).toHaveLength(1)
    await pass(2000)
    await until(() => asked.length === 2)
    expect(asked[1]?.body).toEqual(asked[0]?.body)
    await recorder.close()
  })

  test('no more is kept than there is room for: first runs that go on give way, the oldest first', async () => {
    const { recorder, dropped, run, close, reopen } = await startRecording({ maxRuns: 3 })
    await close()
    const start = (runId: string) => recorder.start({ sessionId: 's1', runId })
    start('a').complete()
    start('b')
    const c = start('c')
    await recorder.flush()
    start('d').complete()
    c.complete()
    await recorder.flush()
    start('e').complete()
    await reopen()
    await recorder.flush()
    expect(dropped.map(([post, why]) => [post.run.runId, why])).toEqual([
      ['b', 'overflow'],
      ['e', 'overflow'],
      ['a', 'overflow'],
    ])
    const kept = ['a', 'b', 'c', 'd', 'e'].map(async (runId) => (await run(runId))?.status)
    expect(await Promise.all(kept)).toEqual([undefined, undefined, 'completed', 'completed', 'completed'])
    await recorder.close()
  })

  test('all is kept that does not fit into one batch', async () => {
    const { recorder, sallyport, dropped, close, reopen } = await startRecording()
    await close()
    for (let run = 0; run < 250; run++) recorder.start({ sessionId: 's1' }).complete()
    await recorder.flush()
    await reopen()
    await recorder.flush()
    expect((await sallyport.runs.list({ limit: 300 })).items).toHaveLength(250)
    expect(dropped).toEqual([])
    await recorder.close()
  })

  test('more is kept of a run than one post may hold, and the later of what was told twice', async () => {
    const { recorder, recorded, dropped, close, reopen } = await startRecording()
    await close()
    const run = recorder.start({ sessionId: 's1', runId: 'r1' })
    const names = (from: number) => Array.from({ length: 15 }, (_, index) => `t${from + index}`)
    for (const [from, model] of [
      [10, 'old'],
      [30, 'newer'],
      [50, 'newest'],
    ] as const) {
      run.update({ model, tags: names(from) })
      run.update({ metadata: Object.fromEntries(names(from).map((name) => [name, from])) })
      await recorder.flush()
    }
    run.add({ steps: 1 })
    await reopen()
    await recorder.flush()
    const { model, tags, metadata, counts } = await recorded('r1')
    expect([model, tags?.length, Object.keys(metadata ?? {}).length, counts]).toEqual(['newest', 45, 45, { steps: 1 }])
    expect(dropped).toEqual([])
    await recorder.close()
  })

  test('one store that is down keeps a post back, and no other', async () => {
    const store = memoryStore()
    let isDown = true
    const { recorder, recorded, run, dropped } = await startRecording(
      {},
      {
        logger: { log: () => {} },
        store: {
          ...store,
          mergeRun: (key, decide) =>
            isDown && key.runId === 'r1' ? Promise.reject(new Error('down')) : store.mergeRun(key, decide),
        },
      },
    )
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    recorder.start({ sessionId: 's1', runId: 'r2' }).complete()
    await recorder.flush()
    expect([await run('r1'), (await run('r2'))?.status]).toEqual([undefined, 'completed'])
    isDown = false
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed' })
    expect(dropped).toEqual([])
    await recorder.close()
  })

  test.each([
    ['a page of a proxy', { status: 200, body: '<h1>Soon</h1>' }],
    ['a page that is not found', { status: 404, body: '<h1>Not Found</h1>' }],
    ['a fault of the host', { status: 500, body: '' }],
    ['too few results', { status: 200, body: { warnings: [], results: [] } }],
  ])('what is answered instead does no harm: %s', async (_, answer) => {
    const up = { status: 200, body: { warnings: [], results: [{ status: 201, warnings: [] }] } }
    const { url, asked } = await startScripted(answer, up)
    const dropped: unknown[] = []
    const client = createClient({ baseUrl: url, token: 'app', retries: 0 })
    const recorder = createRunRecorder({ client, onDropped: (post) => dropped.push(post) })
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    await recorder.flush()
    await recorder.flush()
    expect(asked).toHaveLength(2)
    expect(asked[1]?.body).toEqual(asked[0]?.body)
    expect(dropped).toEqual([])
    await recorder.close()
  })
})
