import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ClientOptions, createClient, createRunRecorder } from 'sallyport/client'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { startRecording, stopRecording } from './recorders.ts'
import { startScripted, until } from './servers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await stopRecording()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Holds the first request until `answer` sends 503. */
function holdFirst(): { answer: () => void; readonly before: NonNullable<Parameters<typeof startRecording>[2]> } {
  let isFirst = true
  const hold = {
    answer() {},
    before(request: IncomingMessage, response: ServerResponse) {
      if (!isFirst) return false
      isFirst = false
      request.resume()
      hold.answer = () => void response.writeHead(503, { 'retry-after': '60' }).end()
      return true
    },
  }
  return hold
}

/** A fetch without a network, which counts its calls. */
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

describe('a recorder while its server is away', () => {
  test('The recorder keeps run data during an outage and sends it afterwards', async () => {
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

  test('The recorder backs off during an outage, although more runs end', async () => {
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

  test.each([[[90_000]], [[90_000, 1_000]]])(
    'The recorder waits as long as the store asks: the most of %j',
    async (waits) => {
      const problem = { type: 'urn:sallyport:problem:store_unavailable', code: 'store_unavailable', status: 503 }
      const unstored = waits.map((retryAfterMs) => ({ status: 503, problem, retryAfterMs }))
      const stored = waits.map(() => ({ status: 201, warnings: [] }))
      const answer = (results: readonly object[]) => ({ status: 200, body: { warnings: [], results } })
      const { url, asked } = await startScripted(answer(unstored), answer(stored))
      vi.spyOn(Math, 'random').mockReturnValue(0)
      const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }) })
      for (const at of waits.keys()) recorder.start({ sessionId: 's1', runId: `r${at}` }).complete()
      await recorder.flush()
      await pass(89_000)
      expect(asked).toHaveLength(1)
      await pass(2000)
      await until(() => asked.length === 2)
      expect(asked[1]?.body).toEqual(asked[0]?.body)
      await recorder.close()
    },
  )

  test('A full recorder drops the oldest open runs first', async () => {
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

  test('The recorder keeps more posts than one batch holds', async () => {
    // Real timers: the host yields to the event loop between posts.
    vi.useRealTimers()
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

  test('The recorder keeps more of a run than one post may hold, with the latest values', async () => {
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

  test('A failing store delays only the posts it refused', async () => {
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

  test('The rest of a partly refused post stays before later posts', async () => {
    const problem = (code: string, status: number, pointer?: string) => {
      const errors = pointer && [{ pointer, code: 'too_long', detail: '' }]
      return { status, problem: { type: `urn:sallyport:problem:${code}`, code, status, errors } }
    }
    const down = problem('store_unavailable', 503)
    const script = [[problem('validation_failed', 422, '/runs/0/run/tags/0'), down], [down]]
    const { recorder, recorded, run, asked } = await startRecording({}, {}, (_, response) => {
      const results = script.shift()
      if (results) response.setHeader('content-type', 'application/json').end(JSON.stringify({ warnings: [], results }))
      return results !== undefined
    })
    const tags = (from: number) => Array.from({ length: 15 }, (_, index) => `t${from + index}`)
    const reported = recorder.start({ sessionId: 's1', runId: 'r1', model: 'old', tags: tags(0) })
    reported.update({ model: 'new', tags: tags(20) })
    reported.complete()
    await recorder.flush()
    expect([script.length, await run('r1')]).toEqual([0, undefined])
    await recorder.flush()
    expect(asked()).toBe(3)
    const { status, model, tags: all } = await recorded('r1')
    expect([status, model, all?.length]).toEqual(['completed', 'new', 29])
  })

  test('Posts in flight count towards maxRuns', async () => {
    const hold = holdFirst()
    const { recorder, dropped, sallyport, asked } = await startRecording({ maxRuns: 10 }, {}, hold.before)
    const start = (count: number) => {
      for (let run = 0; run < count; run++) recorder.start({ sessionId: 's1' })
    }
    start(6)
    const flushed = recorder.flush()
    await until(() => asked() === 1)
    start(10)
    expect(dropped.map(([, why]) => why)).toEqual(Array(6).fill('overflow'))
    hold.answer()
    await flushed
    await recorder.flush()
    expect((await sallyport.runs.list({})).items).toHaveLength(10)
    expect(dropped).toHaveLength(6)
  })

  test('Data recorded while a post is in flight is kept, and so is the post', async () => {
    const hold = holdFirst()
    const { recorder, recorded, asked } = await startRecording({}, {}, hold.before)
    const run = recorder.start({ sessionId: 's1', runId: 'r1', model: 'gpt-5' })
    const flushed = recorder.flush()
    await until(() => asked() === 1)
    run.add({ steps: 1 })
    hold.answer()
    await flushed
    run.complete()
    await recorder.flush()
    expect(await recorded('r1')).toMatchObject({ status: 'completed', model: 'gpt-5', counts: { steps: 1 } })
  })

  test('A run that ends during a failed call waits for the retry, and close() sends it', async () => {
    const hold = holdFirst()
    const { recorder, sallyport, asked } = await startRecording({}, {}, hold.before)
    recorder.start({ sessionId: 's1' }).complete()
    await until(() => asked() === 1)
    recorder.start({ sessionId: 's1' }).complete()
    await pass(1000)
    hold.answer()
    await recorder.start({ sessionId: 's1' })[Symbol.asyncDispose]()
    await pass(30_000)
    expect(asked()).toBe(1)
    await recorder.close()
    expect((await sallyport.runs.list({})).items).toHaveLength(3)
  })

  test('Leaving a run waits for Retry-After, and flush() does not', async () => {
    const { recorder, asked, dropped } = await startRecording({ heartbeatMs: 0 }, {}, (_, response) => {
      response.writeHead(503, { 'retry-after': '60' }).end()
      return true
    })
    for (let run = 0; run < 5; run++) {
      await using left = recorder.start({ sessionId: 's1' })
      left.complete()
    }
    expect(asked()).toBe(1)
    await recorder.flush()
    expect(asked()).toBe(2)
    expect(dropped).toEqual([])
  })

  test('A closed recorder reports its unsent posts once', async () => {
    const { recorder, dropped, close } = await startRecording()
    await close()
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    recorder.start({ sessionId: 's1', runId: 'r2' })
    await recorder.close()
    await recorder.close()
    expect(dropped.map(([{ run }, why]) => [run.runId, run.status, why])).toEqual([
      ['r1', 'completed', 'closed'],
      ['r2', 'cancelled', 'closed'],
    ])
    expect(vi.getTimerCount()).toBe(0)
  })
})
