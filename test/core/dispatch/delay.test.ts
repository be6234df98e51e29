import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { composed, took } from '../../compose/composed.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const EVENT = { recipient: 'jane@example.com' } as const

const events = defineEvents({
  now: { channels: { a: { text: () => 'hello' } } },
  late: { delayMs: HOUR, channels: { a: {}, b: {} } },
  fallback: { delayMs: HOUR, route: 'first', channels: { a: {}, b: {} } },
})

function delayTestApp(rest = {}) {
  const a = recordingChannel()
  const b = recordingChannel()
  return { a, b, ...composed(events, { channels: { a, b }, ...rest }) }
}

describe('an event with a delay', () => {
  it('The answer to a delayed event gives its due time, and it is sent then and not before', async () => {
    const { sallyport, clock, a, b } = delayTestApp()
    const answer = took(await sallyport.dispatch({ ...EVENT, eventType: 'late' }))
    expect(answer).toMatchObject({ status: 'queued', createdAt: '2026-11-21T08:00:00.000Z' })
    const nextAttemptAt = '2026-11-21T09:00:00.000Z'
    expect(answer.deliveries).toMatchObject([{ nextAttemptAt }, { nextAttemptAt }])
    expect((await sallyport.dispatches.get(answer.dispatchId))?.deliveries).toMatchObject([
      { nextAttemptAt },
      { nextAttemptAt },
    ])
    clock.advance(HOUR - 1)
    await sallyport.worker.runDue()
    expect([a.sent, b.sent]).toEqual([[], []])
    clock.advance(1)
    expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 2, sent: 2 })
    expect([a.sent.length, b.sent.length]).toEqual([1, 1])
    expect(await sallyport.dispatches.get(answer.dispatchId)).toMatchObject({ status: 'sent' })
  })

  it('The fallback of a delayed delivery waits behind it', async () => {
    const a = recordingChannel([{ outcome: 'rejected', code: 'gone' }])
    const b = recordingChannel()
    const { sallyport, clock } = composed(events, { channels: { a, b } })
    const { deliveries } = took(await sallyport.dispatch({ ...EVENT, eventType: 'fallback' }))
    expect(deliveries).toMatchObject([{ nextAttemptAt: '2026-11-21T09:00:00.000Z' }, { status: 'held' }])
    expect(deliveries[1]).not.toHaveProperty('nextAttemptAt')
    clock.advance(HOUR)
    expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 2, sent: 1, failed: 1 })
    expect([a.sent.length, b.sent.length]).toEqual([1, 1])
  })

  it('A dry run shows when a delayed delivery would be due', async () => {
    const { sallyport } = delayTestApp()
    const request = { headers: {}, body: { ...EVENT, eventType: 'late', channel: 'a' }, query: { dryRun: 'true' } }
    const principal = { id: 'app', tenant: 'default' }
    expect(await handled(sallyport.endpoints, 'dispatch', principal, request)).toMatchObject({
      status: 200,
      body: { deliveries: [{ status: 'queued', nextAttemptAt: '2026-11-21T09:00:00.000Z' }] },
    })
    const fallback = { ...request, body: { ...EVENT, eventType: 'fallback' } }
    const { body } = await handled(sallyport.endpoints, 'dispatch', principal, fallback)
    const { deliveries } = body as { readonly deliveries: readonly object[] }
    expect(deliveries.map((delivery) => 'nextAttemptAt' in delivery)).toEqual([true, false])
  })

  it('A running worker sends a delayed delivery when it is due, without an early wake-up', async () => {
    const { sallyport, clock, a } = delayTestApp()
    sallyport.worker.start()
    await sallyport.dispatch({ ...EVENT, eventType: 'late' })
    const settled = () => new Promise(setImmediate)
    for (let minute = 0; minute < 59; minute++) {
      clock.advance(MINUTE)
      await settled()
    }
    expect(a.sent).toEqual([])
    for (let second = 0; second < 60; second++) {
      clock.advance(1_000)
      await settled()
      clock.advance(0)
      await settled()
    }
    expect(a.sent).toHaveLength(1)
    await sallyport.worker.stop()
  })
})

describe('the delay of a call', () => {
  it('The delay of a call delays an event without a delay', async () => {
    const { sallyport, clock, a } = delayTestApp()
    const { deliveries } = took(await sallyport.dispatch({ ...EVENT, eventType: 'now' }, { delayMs: 1_500 }))
    expect(deliveries).toMatchObject([{ status: 'queued', nextAttemptAt: '2026-11-21T08:00:01.500Z' }])
    clock.advance(1_499)
    await sallyport.worker.runDue()
    expect(a.sent).toEqual([])
    clock.advance(1)
    await sallyport.worker.runDue()
    expect(a.sent).toHaveLength(1)
  })

  it('The delay of a call overrides the delay of the event', async () => {
    const { sallyport } = delayTestApp()
    const reported = []
    for (const delayMs of [2 * HOUR, MINUTE, 0, undefined]) {
      const options = delayMs === undefined ? {} : { delayMs }
      const { deliveries } = took(await sallyport.dispatch({ ...EVENT, eventType: 'late' }, options))
      reported.push(deliveries[0]?.nextAttemptAt)
    }
    expect(reported).toEqual([
      '2026-11-21T10:00:00.000Z',
      '2026-11-21T08:01:00.000Z',
      undefined,
      '2026-11-21T09:00:00.000Z',
    ])
  })

  it('A delay of 366 days is accepted', async () => {
    const { sallyport } = delayTestApp()
    const delayMs = 366 * 24 * HOUR
    expect(took(await sallyport.dispatch({ ...EVENT, eventType: 'now' }, { delayMs })).deliveries).toMatchObject([
      { nextAttemptAt: '2027-11-22T08:00:00.000Z' },
    ])
  })

  it.each([
    [-1, '-1'],
    [0.5, '0.5'],
    [366 * 24 * HOUR + 1, '31622400001'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['5', 'a string'],
    [null, 'null'],
    [5n, 'a bigint'],
  ])('A call with a delayMs of %s is answered 422, and nothing is stored', async (delayMs, came) => {
    const { sallyport } = delayTestApp()
    expect(await sallyport.dispatch({ ...EVENT, eventType: 'now' }, { delayMs: delayMs as number })).toMatchObject({
      ok: false,
      status: 422,
      body: {
        code: 'validation_failed',
        detail: `delayMs is ${came}; must be a whole number from 0 to 31622400000.`,
        requestId: expect.stringMatching(/^req_/),
      },
    })
    expect((await sallyport.dispatches.list()).items).toEqual([])
  })

  it('A request body cannot set a delay', async () => {
    const { sallyport } = delayTestApp()
    const body = { ...EVENT, eventType: 'now', delayMs: HOUR }
    const answer = await handled(
      sallyport.endpoints,
      'dispatch',
      { id: 'app', tenant: 'default' },
      { headers: {}, body },
    )
    expect(answer).toMatchObject({ status: 202, body: { warnings: [{ code: 'unknown_field', pointer: '/delayMs' }] } })
    expect(answer.body).not.toMatchObject({ deliveries: [{ nextAttemptAt: expect.anything() }] })
  })
})

describe('expiry', () => {
  it('The expiry counts from the due time: a delivery delayed by 100 hours is sent despite an expiry of 72', async () => {
    const { sallyport, clock, a } = delayTestApp()
    await sallyport.dispatch({ ...EVENT, eventType: 'now' }, { delayMs: 100 * HOUR })
    clock.advance(100 * HOUR)
    await sallyport.worker.runDue()
    expect(a.sent).toHaveLength(1)
  })

  it('A delayed delivery expires to the millisecond', async () => {
    for (const [late, sent] of [
      [72 * HOUR - 1, 1],
      [72 * HOUR, 0],
    ] as const) {
      const { sallyport, clock, a } = delayTestApp()
      const { dispatchId } = took(await sallyport.dispatch({ ...EVENT, eventType: 'now' }, { delayMs: 100 * HOUR }))
      clock.advance(100 * HOUR + late)
      await sallyport.worker.runDue()
      expect(a.sent).toHaveLength(sent)
      expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
        deliveries: [{ status: sent ? 'sent' : 'expired' }],
      })
    }
  })

  it('A held fallback of a delayed delivery expires after the same time', async () => {
    const a = recordingChannel([{ outcome: 'rejected', code: 'gone' }])
    const b = recordingChannel()
    const { sallyport, clock } = composed(events, { channels: { a, b } })
    await sallyport.dispatch({ ...EVENT, eventType: 'fallback' }, { delayMs: 100 * HOUR })
    clock.advance(100 * HOUR + 71 * HOUR)
    await sallyport.worker.runDue()
    expect([a.sent.length, b.sent.length]).toEqual([1, 1])
  })
})
