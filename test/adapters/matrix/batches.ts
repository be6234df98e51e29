import { afterEach, describe, expect, it, test } from 'vitest'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SessionRunBatchAnswer } from '../../../src/model/run-batch.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { call } from '../../support/host-call.ts'
import { FakeEndpoints } from '../../support/host-endpoints.ts'
import type { Host, HostOptions, RunningHost } from '../../support/hosts/host.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { BATCH } from './paths.ts'

function sallyport(): Sallyport {
  const store = memoryStore()
  const shaky: typeof store = {
    ...store,
    async mergeRun(key, decide) {
      if (key.runId === 'unstorable') throw new Error('the database is down')
      return store.mergeRun(key, decide)
    },
  }
  const redactor = {
    async redact(text: string) {
      if (text === 'unreadable') throw new Error('the redactor is down')
      return text.replace('secret', '***')
    },
  }
  return createSallyport<unknown>({
    auth: testAuth,
    events: defineEvents({ 'any.event': { channels: { email: { text: () => 'any' } } } }),
    store: shaky,
    channels: { email: recordingChannel() },
    redactor,
    logger: recordingLogger(),
  }) as Sallyport
}

const of = (run: object, sessionId = 's1') => ({ sessionId, run })

/** Posts with their expected status and error pointers. */
const ROWS: readonly (readonly [post: unknown, status: number, ...faults: string[]])[] = [
  [of({ runId: 'r1', status: 'completed', tags: ['a secret'] }), 201],
  [of({ runId: 'r8', counts: { steps: 3 } }), 201],
  [
    of({ runId: 'r2', counts: { steps: -1, searches: 0.5 } }),
    422,
    '/runs/2/run/counts/steps',
    '/runs/2/run/counts/searches',
  ],
  [of({ runId: 'r3', status: 'interrupted' }, ''), 422, '/runs/3/sessionId', '/runs/3/run/status'],
  [of({ runId: 'r4' }, 's2'), 403],
  [of({ runId: 'unstorable' }), 503],
  [of({ runId: 'r5', metadata: { k: 'unreadable' } }), 503],
  [of({ runId: 'r6', provider: 'nul\0' }), 422, '/runs/7/run/provider'],
  [null, 422, '/runs/8'],
  [of({ runId: 'r9', parentRunId: 'r1' }), 201],
]

/** Tests of batches: several runs in one request, each with its own result. */
export function testBatches(host: Host): void {
  describe('batches', () => {
    const open: RunningHost[] = []
    afterEach(async () => {
      for (const running of open.splice(0)) await running.close()
    })
    async function start(options?: HostOptions, mounted: Parameters<Host['start']>[0] = sallyport()): Promise<string> {
      const running = await host.start(mounted, options)
      open.push(running)
      return running.url
    }

    it.each(host.parser === 'first' ? [false, true] : [false])(
      'A batch records each post by itself; host parser: %s',
      async (parser) => {
        const url = await start({ parser })
        const runs = ROWS.map(([post]) => post)
        const headers = { authorization: 'Bearer session' }
        const reply = await call(url + BATCH, { headers, body: JSON.stringify({ runs }) })
        expect(reply.status).toBe(200)
        expect(reply.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' })
        const { results, warnings }: SessionRunBatchAnswer = reply.json
        expect(warnings).toEqual([])
        expect(
          results.map(({ status, problem }) => [status, ...(problem?.errors ?? []).map(({ pointer }) => pointer)]),
        ).toEqual(ROWS.map(([, ...answer]) => answer))
        for (const { status, problem } of results) {
          expect(problem === undefined).toBe(status < 300)
          if (problem) expect(problem).toMatchObject({ status, requestId: expect.stringMatching(/^req_/) })
        }
        expect(results[0]).toMatchObject({ created: true, run: { runId: 'r1', tags: ['a ***'] } })
        expect(results[5]).toMatchObject({ retryAfterMs: 1000, problem: { code: 'store_unavailable' } })
        expect(results[6]).toMatchObject({ retryAfterMs: 1000, problem: { code: 'redactor_unavailable' } })
        const minimal = await call(url + BATCH, {
          headers: { ...headers, prefer: 'return=minimal' },
          body: JSON.stringify({ runs: runs.slice(0, 1) }),
        })
        expect(minimal.headers['preference-applied']).toBe('return=minimal')
        expect(minimal.json.results).toEqual([
          { status: 200, created: false, changed: false, ignored: [], warnings: [] },
        ])
      },
    )

    it('A malformed batch is refused as a whole', async () => {
      const url = await start()
      for (const [body, pointer] of [
        [[], ''],
        [{}, '/runs'],
        [{ runs: [] }, '/runs'],
        [{ runs: Array.from({ length: 101 }, (_, at) => of({ runId: `r${at}` })) }, '/runs'],
      ] as const) {
        const reply = await call(url + BATCH, {
          headers: { authorization: 'Bearer app' },
          body: JSON.stringify(body),
        })
        expect(reply.json).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ pointer }] })
        expect(reply.headers['content-type']).toBe('application/problem+json')
      }
    })

    test('A batch is authorized like a single post', async () => {
      const endpoints = new FakeEndpoints()
      const operations: string[] = []
      const { authenticate } = endpoints
      endpoints.authenticate = (headers, requested) => {
        operations.push(requested.operation)
        return authenticate(headers, requested)
      }
      const url = await start({}, { endpoints })
      expect((await call(url + BATCH, { body: '{"a":1}' })).json.operation).toBe('session_run_batch')
      expect(operations).toEqual(['session_run'])
    })
  })
}
