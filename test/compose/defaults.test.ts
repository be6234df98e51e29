import { expect, it } from 'vitest'
import { handleDispatchWithDefaults, handleSessionRunBatchWithDefaults } from '../../src/compose/defaults.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { stored } from '../core/dispatch/dispatching.ts'
import { testAuth, testDeps } from '../support/deps.ts'

it('A logger that throws changes no answer', async () => {
  const logger = {
    log() {
      throw new Error('the disk is full')
    },
  }
  const { store, ...deps } = testDeps()
  const broken = {
    ...store,
    accept: async () => {
      throw new Error('down')
    },
  }
  const body = { eventType: 'order.shipped', recipient: 'a@example.com', eventData: { orderId: 'A', total: 1 } }
  const request = { headers: { authorization: 'Bearer app' }, body }
  expect(await handleDispatchWithDefaults(request, { ...deps, store: broken, logger })).toMatchObject({
    status: 503,
    body: { code: 'store_unavailable' },
  })
})

it('An id generator that throws causes an answer of 500 with a request id', async () => {
  const next = (): never => {
    throw new RangeError('canary-7f3a')
  }
  const deps = { ...testDeps(), ids: { next } }
  const body = { eventType: 'order.shipped', recipient: 'a@example.com', eventData: { orderId: 'A', total: 1 } }
  const answer = await handleDispatchWithDefaults({ headers: { authorization: 'Bearer app' }, body }, deps)
  const requestId = expect.stringMatching(/^req_./)
  expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error', requestId } })
  expect(deps.logger.lines).toMatchObject([{ fields: { code: 'internal_error', requestId, cause: 'RangeError' } }])
  expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('canary')
  expect(await stored(deps)).toEqual([])
})

it('handleSessionRunBatch needs only a verifier and a store, and a throwing logger does not change its answers', async () => {
  const store = memoryStore()
  const headers = { authorization: 'Bearer app' }
  const post = (runId: string) => ({ sessionId: 's1', run: { runId } })
  const request = { headers, body: { runs: [post('r1'), post('r2')] } }
  const first = await handleSessionRunBatchWithDefaults(request, { auth: testAuth, store })
  expect(first).toMatchObject({ status: 200, body: { results: [{ status: 201 }, { status: 201 }] } })
  const logger = {
    log() {
      throw new Error('the disk is full')
    },
  }
  const broken: typeof store = {
    ...store,
    mergeRun: (key, decide) => (key.runId === 'r1' ? Promise.reject(new Error('down')) : store.mergeRun(key, decide)),
  }
  expect(await handleSessionRunBatchWithDefaults(request, { auth: testAuth, store: broken, logger })).toMatchObject({
    status: 200,
    body: {
      results: [
        { status: 503, retryAfterMs: 1000 },
        { status: 200, changed: false },
      ],
    },
  })
})

it('A handler remembers what it logged, although it gets its ports with each call', async () => {
  const deps = testDeps()
  const refused = () => handleDispatchWithDefaults({ headers: { authorization: 'Bearer nobody' }, body: {} }, deps)
  for (let call = 0; call < 3; call++) expect(await refused()).toMatchObject({ status: 401 })
  expect(deps.logger.lines.map(({ event }) => event)).toEqual(['auth.refused'])
  deps.clock.advance(1_000)
  await refused()
  expect(deps.logger.lines[1]).toMatchObject({ event: 'auth.refused', fields: { omitted: 2 } })
})

it.each([
  ['auth', 'text', 503],
  ['policy', 7, 401],
  ['logger', 'text', 401],
])('A handler whose %s is %j answers', async (name, wrong, status) => {
  const deps = { ...testDeps(), [name]: wrong } as never
  const answer = await handleDispatchWithDefaults({ headers: { authorization: 'Bearer nobody' }, body: {} }, deps)
  expect(answer.status).toBe(status)
})
