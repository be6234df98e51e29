import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { POSTS } from '../../src/actions/table.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { handleDispatchWithDefaults } from '../../src/compose/defaults.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { isRefused } from '../../src/core/answers/result.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Problem } from '../../src/errors.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { APP, countingIds, recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { handled } from '../support/handled.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const events = defineEvents({
  'order.shipped': {
    data: v.object({ orderId: v.string() }),
    channels: { email: { subject: ({ data }) => `Order ${data.orderId} shipped` } },
  },
})

const NOW = '2026-11-21T08:00:00.000Z'
const ORDER = { eventType: 'order.shipped', recipient: 'jane@example.com', eventData: { orderId: 'A-1' } } as const

function app(rest: Partial<SallyportOptions<{ 'order.shipped': { orderId: string } }>> = {}) {
  const clock = fakeClock()
  const email = recordingChannel()
  const logger = recordingLogger()
  const store = memoryStore({ clock })
  const options = { auth: testAuth, events, store, channels: { email }, clock, logger, ids: countingIds(), ...rest }
  return { clock, email, logger, sallyport: createSallyport(options) }
}

async function settled(clock: { advance(ms: number): void }): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await new Promise(setImmediate)
    clock.advance(0)
  }
}

describe('createSallyport', () => {
  it('createSallyport throws if an event names a channel that is not configured', () => {
    expect(() => app({ channels: {} })).toThrow('event "order.shipped", channel "email": is not configured')
  })

  it('createSallyport starts no worker', () => {
    expect(app().clock.timers).toBe(0)
  })
})

describe('sallyport.dispatch', () => {
  it('sallyport.dispatch answers like the endpoint', async () => {
    const { sallyport } = app()
    expect(await sallyport.dispatch({ ...ORDER, sessionId: 's1' })).toEqual({
      ok: true,
      status: 202,
      headers: {},
      body: {
        dispatchId: 'dsp_1',
        status: 'queued',
        eventType: 'order.shipped',
        recipient: 'jane@example.com',
        sessionId: 's1',
        createdAt: NOW,
        deliveries: [{ deliveryId: 'dlv_2', channel: 'email', status: 'queued', attempts: 0 }],
        duplicate: false,
        warnings: [],
      },
    })
  })

  it('sallyport.dispatch is scoped to its tenant, and de-duplicates by key within it', async () => {
    const { sallyport } = app()
    const first = await sallyport.dispatch(ORDER, { tenant: 'acme', idempotencyKey: 'k' })
    const second = await sallyport.dispatch(ORDER, { tenant: 'acme', idempotencyKey: 'k' })
    const other = await sallyport.dispatch(ORDER, { idempotencyKey: 'k' })
    expect(second).toMatchObject({ headers: { 'idempotent-replayed': 'true' }, body: { duplicate: true } })
    expect(other.body).toMatchObject({ duplicate: false })
    expect([
      (await sallyport.dispatches.list({ tenant: 'acme' })).items.length,
      (await sallyport.dispatches.list()).items.length,
    ]).toEqual([1, 1])
    expect(first.ok).toBe(true)
  })

  it('sallyport.dispatch shares idempotency keys with the endpoint', async () => {
    const { sallyport } = app()
    await sallyport.dispatch(ORDER, { idempotencyKey: 'k' })
    const principal = { id: 'app', tenant: 'default' }
    const headers = { 'idempotency-key': 'k' }
    expect(await handled(sallyport.endpoints, 'dispatch', principal, { headers, body: ORDER })).toMatchObject({
      body: { duplicate: true },
    })
  })

  it('sallyport.dispatch never throws for wrong input, non-JSON values, or a failing port', async () => {
    const down = new Error('down')
    const store = { ...memoryStore(), accept: () => Promise.reject(down) }
    const { sallyport } = app({ store })
    const dispatch = (input: unknown) => sallyport.dispatch(input as typeof ORDER)
    for (const input of [
      undefined,
      null,
      5,
      {},
      { ...ORDER, eventData: { orderId: 1n } },
      { ...ORDER, eventData: new Date() },
    ]) {
      expect(await dispatch(input)).toMatchObject({ ok: false, status: 422, body: { code: 'validation_failed' } })
    }
    expect(await dispatch(ORDER)).toMatchObject({ ok: false, status: 503, headers: { 'retry-after': '1' } })
    expect(await sallyport.dispatch(ORDER, { idempotencyKey: '' })).toMatchObject({ status: 400 })
  })

  it('A stored dispatch does not change when the caller changes the answer', async () => {
    const skipped = defineEvents({ 'order.shipped': { channels: { email: { when: () => false } } } })
    const { sallyport } = app({ events: skipped as unknown as typeof events })
    const { body } = await sallyport.dispatch(ORDER)
    const trace = 'deliveries' in body ? body.deliveries[0]?.trace?.[0] : undefined
    Object.assign(trace ?? {}, { rule: 'spoilt' })
    expect(await sallyport.dispatches.get('dsp_1')).toMatchObject({ deliveries: [{ trace: [{ rule: 'function' }] }] })
  })
})

describe('sallyport.worker', () => {
  it('The worker sends accepted events when it is started, and later ones at once', async () => {
    const { sallyport, clock, email } = app()
    await sallyport.dispatch(ORDER)
    await settled(clock)
    expect(email.sent).toEqual([])
    sallyport.worker.start()
    await settled(clock)
    expect(email.sent).toHaveLength(1)
    await sallyport.dispatch(ORDER)
    await settled(clock)
    expect(email.sent).toHaveLength(2)
    await sallyport.worker.stop()
    expect(clock.timers).toBe(0)
  })

  it('The worker uses its options', async () => {
    const { sallyport, email } = app({ worker: { concurrency: 1 } })
    await sallyport.dispatch(ORDER)
    await sallyport.dispatch(ORDER)
    expect(await sallyport.worker.runDue()).toEqual({
      attempted: 2,
      sent: 2,
      retried: 0,
      failed: 0,
      skipped: 0,
      expired: 0,
    })
    expect(email.sent.map(({ dispatchId }) => dispatchId)).toEqual(['dsp_1', 'dsp_3'])
  })
})

describe('sallyport.dispatches', () => {
  it('dispatches.get shows the current dispatch, without address and content', async () => {
    const { sallyport } = app()
    await sallyport.dispatch(ORDER)
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get('dsp_1')).toEqual({
      dispatchId: 'dsp_1',
      by: 'host',
      status: 'sent',
      eventType: 'order.shipped',
      recipient: 'jane@example.com',
      createdAt: NOW,
      deliveries: [
        {
          deliveryId: 'dlv_2',
          channel: 'email',
          status: 'sent',
          attempts: 1,
          providerMessageId: 'p1',
          attemptLog: [{ attempt: 1, startedAt: NOW, endedAt: NOW, outcome: 'sent' }],
        },
      ],
    })
  })

  it('dispatches.get shows when the next attempt is due, after the first one', async () => {
    const email = recordingChannel([{ outcome: 'retry', code: 'busy', retryAfterMs: 20_000 }], {
      retrySchedule: [10_000],
    })
    const { sallyport } = app({ channels: { email } })
    await sallyport.dispatch(ORDER)
    expect((await sallyport.dispatches.get('dsp_1'))?.deliveries[0]).not.toHaveProperty('nextAttemptAt')
    await sallyport.worker.runDue()
    expect((await sallyport.dispatches.get('dsp_1'))?.deliveries[0]).toEqual({
      deliveryId: 'dlv_2',
      channel: 'email',
      status: 'queued',
      attempts: 1,
      nextAttemptAt: expect.stringMatching(/^2026-11-21T08:00:2[0-3]\./),
      waiting: { for: 'retry', until: expect.stringMatching(/^2026-11-21T08:00:2[0-3]\./) },
      lastCode: 'busy',
      attemptLog: [{ attempt: 1, startedAt: NOW, endedAt: NOW, outcome: 'retry', code: 'busy' }],
    })
  })

  it('dispatches.get hides the dispatches of other tenants', async () => {
    const { sallyport } = app()
    await sallyport.dispatch(ORDER, { tenant: 'acme' })
    expect(await sallyport.dispatches.get('dsp_1')).toBeUndefined()
    expect(await sallyport.dispatches.get('dsp_1', { tenant: 'acme' })).toMatchObject({ dispatchId: 'dsp_1' })
  })

  it("dispatches.list gives a session's dispatches newest first, in pages of 50, or up to 500", async () => {
    const { sallyport, clock } = app()
    for (let at = 0; at < 60; at++) {
      await sallyport.dispatch({ ...ORDER, sessionId: at % 2 ? 'odd' : 'even' })
      clock.advance(1)
    }
    const first = await sallyport.dispatches.list()
    expect(first.items).toHaveLength(50)
    expect(first.items[0]?.dispatchId).toBe('dsp_119')
    const { nextCursor: cursor = '' } = first
    const rest = await sallyport.dispatches.list({ cursor })
    expect(rest.items).toHaveLength(10)
    expect(rest).not.toHaveProperty('nextCursor')
    const odd = await sallyport.dispatches.list({ sessionId: 'odd', limit: 500 })
    expect(odd.items.map(({ sessionId }) => sessionId)).toEqual(new Array(30).fill('odd'))
    for (const limit of [0, -5, 501, 1.5])
      await expect(sallyport.dispatches.list({ limit })).rejects.toMatchObject({ problems: [{ field: 'limit' }] })
  })
})

const DISPATCH = POSTS.dispatch

describe('sallyport.endpoints', () => {
  it('endpoints.authenticate never throws, even if the verifier does', async () => {
    const { sallyport, logger } = app()
    expect(await sallyport.endpoints.authenticate(APP, DISPATCH)).toEqual({ id: 'app', tenant: 'default' })
    const broken = await sallyport.endpoints.authenticate({ authorization: 'Bearer broken' }, DISPATCH)
    if (!isRefused(broken)) throw new Error('was let in')
    const answer = sallyport.endpoints.refuse(broken)
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'auth_unavailable' } })
    expect(logger.lines).toMatchObject([
      { fields: { requestId: (answer.body as Problem).requestId, code: 'auth_unavailable', cause: 'Error' } },
    ])
  })

  it('endpoints.handle accepts a dispatch of an authenticated principal', async () => {
    const { sallyport } = app()
    const principal = { id: 'app', tenant: 'acme' }
    const request = { headers: {}, body: ORDER }
    expect(await handled(sallyport.endpoints, 'dispatch', principal, request)).toMatchObject({ status: 202 })
    expect(
      await handled(sallyport.endpoints, 'dispatch', principal, { ...request, query: { dryRun: 'true' } }),
    ).toMatchObject({
      status: 200,
    })
    expect(await sallyport.dispatches.get('dsp_1', { tenant: 'acme' })).toBeDefined()
  })
})

describe('a tenant that is none', () => {
  it.each(['', 'ten ant', 'a\0', 'x'.repeat(201), 5 as never])(
    'An invalid tenant is refused in every call: %j',
    async (tenant) => {
      const { sallyport } = app()
      expect(await sallyport.dispatch(ORDER, { tenant })).toMatchObject({ status: 422 })
      const reads = [
        sallyport.dispatches.get('dsp_1', { tenant }),
        sallyport.dispatches.list({ tenant }),
        sallyport.dispatches.cancel('dsp_1', { tenant }),
        sallyport.dispatches.retry('dsp_1', { tenant }),
        sallyport.runs.list({ tenant }),
      ]
      for (const read of reads) await expect(read).rejects.toMatchObject({ code: 'option_invalid' })
    },
  )
})

describe('handleDispatch with its defaults', () => {
  it('handleDispatch has defaults for clock, ids and logger', async () => {
    const answer = await handleDispatchWithDefaults(
      { headers: APP, body: ORDER },
      { auth: testAuth, events, store: memoryStore(), channels: { email: recordingChannel() } },
    )
    expect(answer).toMatchObject({
      status: 202,
      body: {
        dispatchId: expect.stringMatching(/^dsp_[0-9a-hjkmnp-tv-z]{26}$/),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    })
  })
})
