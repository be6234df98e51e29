import { type ClientOptions, createClient, createRunRecorder, type RunRecorderOptions } from 'sallyport/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { startRecording, stopRecording } from './recorders.ts'
import { type Scripted, startHost, startScripted } from './servers.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await stopRecording()
})

const problemOf = (code: string, status: number) => ({ type: `urn:sallyport:problem:${code}`, code, status })
const whole = (code: string, status: number): Scripted => ({ status, body: problemOf(code, status) })
const results = (...each: unknown[]): Scripted => ({ status: 200, body: { warnings: [], results: each } })
const one = (code: string, status: number): Scripted => results({ status, problem: problemOf(code, status) })
const RECORDED = results(...Array(100).fill({ status: 200, warnings: [] }))
const PAGE = '<h1>Forbidden</h1>'

/** A recorder that posts to a server, and its dropped posts. */
function recordTo(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const dropped: unknown[][] = []
  const onDropped: RunRecorderOptions['onDropped'] = ({ run }, why) => void dropped.push([run.runId, why])
  const client = createClient({ baseUrl, token: 'app', retries: 0, timeoutMs: UNHURRIED_MS, ...options })
  return { recorder: createRunRecorder({ client, onDropped, heartbeatMs: 0 }), dropped }
}

describe('retried posts', () => {
  test.each<[string, Scripted, Partial<ClientOptions>?]>([
    ['no answer', 'reset'],
    ['a slow body', whole('body_timeout', 408)],
    ['a rate limit', whole('rate_limited', 429)],
    ['an internal error', whole('internal_error', 500)],
    ['an overloaded host', whole('overloaded', 503)],
    ['a rate limiter that is down', whole('rate_limiter_unavailable', 503)],
    ['a rate limit for this post', one('rate_limited', 429)],
    ['an internal error for this post', one('internal_error', 500)],
    ['a store that is down', one('store_unavailable', 503)],
    ['a bad token from a token function', whole('invalid_token', 401), { token: () => 'app' }],
    ['a sign-in page', { status: 200, body: PAGE }],
    ['a page with status 429', { status: 429, body: PAGE }],
    ['a page of a proxy', { status: 502, body: PAGE }],
    ['too few results', results()],
    ['no results', { status: 200, body: { warnings: [] } }],
    ['results that are null', { status: 200, body: { warnings: [], results: null } }],
    ['a result that is null', results(null)],
  ])('The recorder sends the same post again after %s', async (_, answer, options) => {
    await withoutStrayRejections(async () => {
      const { url, asked } = await startScripted(answer, RECORDED)
      const { recorder, dropped } = recordTo(url, options)
      recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
      for (let flush = 0; flush < 3; flush++) await recorder.flush()
      expect(asked).toHaveLength(2)
      expect(asked[1]?.body).toEqual(asked[0]?.body)
      expect(dropped).toEqual([])
      await recorder.close()
    })
  })

  test('The recorder sends a post after its token could not be obtained', async () => {
    const { url, asked } = await startScripted(RECORDED)
    const tokens = [Promise.reject(new Error('no key')), 'app']
    const { recorder, dropped } = recordTo(url, { token: async () => tokens.shift() ?? '' })
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    await recorder.flush()
    await recorder.flush()
    expect([asked.length, dropped]).toEqual([1, []])
    await recorder.close()
  })

  test('The recorder sends a post again after unreadable results', async () => {
    await withoutStrayRejections(async () => {
      const unreadable = new Proxy(
        { status: 200, problem: problemOf('internal_error', 500) as never },
        {
          get: () => expect.unreachable(),
        },
      )
      const recordRuns = vi.fn(async () => ({ warnings: [], results: [unreadable] }))
      const recorder = createRunRecorder({ client: { recordRuns }, heartbeatMs: 0 })
      recorder.start({ sessionId: 's1' })
      await recorder.flush()
      await recorder.flush()
      expect(recordRuns).toHaveBeenCalledTimes(2)
      await recorder.close()
    })
  })
})

describe('dropped posts', () => {
  test.each<[string, Scripted, unknown]>([
    ['a problem for this post', one('run_identity_conflict', 409), { code: 'run_identity_conflict' }],
    ['a bad constant token', whole('invalid_token', 401), { code: 'invalid_token' }],
    ['an insufficient scope', whole('insufficient_scope', 403), { code: 'insufficient_scope' }],
    ['a page with status 403', { status: 403, body: PAGE }, 'bad_answer'],
    ['a failed result without a problem', results({ status: 404 }), 'bad_answer'],
  ])('The recorder drops a post, and reports it, after %s', async (_, answer, why) => {
    const { url, asked } = await startScripted(answer, RECORDED)
    const { recorder, dropped } = recordTo(url)
    recorder.start({ sessionId: 's1', runId: 'r1' }).complete()
    await recorder.flush()
    await recorder.flush()
    expect(dropped).toMatchObject([['r1', why]])
    expect(asked).toHaveLength(1)
    await recorder.close()
  })
})

describe('a proxy between a recorder and its server', () => {
  test('The recorder drops only the two posts that a firewall refuses', async () => {
    const host = await startHost()
    let calls = 0
    const firewall: ClientOptions['fetch'] = async (to, init) => {
      calls += 1
      return init.body?.includes('<script>') ? new Response(PAGE, { status: 403 }) : fetch(to, init)
    }
    const { recorder, dropped } = recordTo(host.url, { fetch: firewall })
    for (let run = 0; run < 90; run++) {
      recorder.start({ sessionId: 's1', runId: `r${run}`, metadata: run === 37 || run === 60 ? { q: '<script>' } : {} })
    }
    await recorder.flush()
    expect((await host.sallyport.runs.list({ limit: 300 })).items).toHaveLength(88)
    expect(dropped).toEqual([
      ['r37', 'bad_answer'],
      ['r60', 'bad_answer'],
    ])
    expect(calls).toBeLessThan(30)
    await recorder.close()
  })

  test.each([
    ['a proxy', PAGE],
    ['a Sallyport', problemOf('body_too_large', 413)],
  ])('The recorder splits a batch that is too large for %s', async (_, body) => {
    const host = await startHost()
    const proxy: ClientOptions['fetch'] = async (to, init) =>
      String(init.body).length > 5000 ? Response.json(body, { status: 413 }) : fetch(to, init)
    const { recorder, dropped } = recordTo(host.url, { fetch: proxy })
    for (let run = 0; run < 90; run++) recorder.start({ sessionId: 's1', runId: `r${run}` })
    recorder.start({ sessionId: 's1', runId: 'large', metadata: { text: 'x'.repeat(6000) } })
    await recorder.flush()
    expect((await host.sallyport.runs.list({ limit: 300 })).items).toHaveLength(90)
    expect(dropped).toMatchObject([['large', typeof body === 'string' ? 'bad_answer' : { code: 'body_too_large' }]])
    await recorder.close()
  })

  test('The recorder drops few posts and sends few requests while the server answers 404', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    vi.spyOn(performance, 'now').mockReturnValue(0)
    let isAway = true
    const { recorder, sallyport, dropped, asked } = await startRecording({}, {}, (_, response) => {
      if (isAway) response.writeHead(404).end(PAGE)
      return isAway
    })
    for (let run = 0; run < 90; run++) recorder.start({ sessionId: 's1', runId: `r${run}` }).complete()
    await recorder.flush()
    expect(asked()).toBeLessThan(12)
    expect(dropped.map(([, why]) => why)).toEqual(['bad_answer', 'bad_answer'])
    const before = asked()
    await recorder.start({ sessionId: 's1' })[Symbol.asyncDispose]()
    expect(asked()).toBe(before)
    isAway = false
    await recorder.flush()
    expect((await sallyport.runs.list({ limit: 300 })).items).toHaveLength(89)
  })
})
