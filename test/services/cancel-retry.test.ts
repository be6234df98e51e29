import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { SendOutcome } from '../../src/ports/channel.ts'
import { composed, ends, took } from '../compose/composed.ts'
import { type RecordingChannel, recordingChannel } from '../support/recording-channel.ts'

const JANE = { recipient: 'jane@example.com' } as const
const ALL = { ...JANE, eventType: 'all' } as const
const FIRST = { ...JANE, eventType: 'first' } as const
const SENT: SendOutcome = { outcome: 'sent' }
const REJECTED: SendOutcome = { outcome: 'rejected', code: 'gone' }
const BUSY: SendOutcome = { outcome: 'retry', code: 'busy' }

const events = defineEvents({
  all: { channels: { a: {}, b: {}, c: { when: () => false } } },
  first: { route: 'first', channels: { a: {}, b: {}, c: {} } },
  broken: { channels: { a: { text: () => fail() } } },
})

const settled = (): Promise<void> => new Promise(setImmediate)

/** Channels a, b and c with scripted outcomes, each with one retry after a second. */
function answering(a: readonly SendOutcome[], b: readonly SendOutcome[] = [SENT], c: readonly SendOutcome[] = [SENT]) {
  const channel = (answers: readonly SendOutcome[]): RecordingChannel =>
    recordingChannel(answers, { retrySchedule: [1_000] })
  const channels = { a: channel(a), b: channel(b), c: channel(c) }
  const { sallyport, clock } = composed(events, { channels, expiresInMs: 60_000 })
  return { sallyport, clock, channels, sentBy: () => Object.values(channels).map(({ sent }) => sent.length) }
}

describe('cancel', () => {
  it('dispatches.cancel stops queued deliveries, returns exactly those, and shows the current dispatch', async () => {
    const { sallyport, sentBy } = answering([SENT])
    const { dispatchId, deliveries } = took(await sallyport.dispatch(ALL))
    const cancelled = await sallyport.dispatches.cancel(dispatchId)
    expect(cancelled?.cancelled).toEqual([
      { deliveryId: deliveries[0]?.deliveryId, channel: 'a', status: 'cancelled', attempts: 0 },
      { deliveryId: deliveries[1]?.deliveryId, channel: 'b', status: 'cancelled', attempts: 0 },
    ])
    expect(cancelled?.dispatch).toMatchObject({ dispatchId, status: 'cancelled' })
    expect(ends(cancelled?.dispatch ?? { deliveries: [] })).toEqual([
      'a: cancelled',
      'b: cancelled',
      'c: skipped condition_false',
    ])
    expect(cancelled?.dispatch).toEqual(await sallyport.dispatches.get(dispatchId))
    expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 0 })
    expect(sentBy()).toEqual([0, 0, 0])
  })

  it('dispatches.cancel stops held deliveries as well', async () => {
    const { sallyport, clock, sentBy } = answering([BUSY])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    const { cancelled = [] } = (await sallyport.dispatches.cancel(dispatchId)) ?? {}
    expect(cancelled.map(({ channel, attempts }) => [channel, attempts])).toEqual([
      ['a', 1],
      ['b', 0],
      ['c', 0],
    ])
    clock.advance(2_000)
    await sallyport.worker.runDue()
    expect(sentBy()).toEqual([1, 0, 0])
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'cancelled' })
  })

  it('dispatches.cancel leaves sent deliveries, and returns none then', async () => {
    const { sallyport } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    await sallyport.worker.runDue()
    const before = await sallyport.dispatches.get(dispatchId)
    expect(await sallyport.dispatches.cancel(dispatchId)).toEqual({ cancelled: [], dispatch: before })
    expect(before).toMatchObject({ status: 'sent' })
  })

  it('dispatches.cancel leaves a delivery in flight, which is then sent', async () => {
    let finish = (_: SendOutcome): void => {}
    const a = recordingChannel([() => new Promise<SendOutcome>((resolve) => (finish = resolve))])
    const { sallyport } = composed(events, { channels: { a, b: recordingChannel([BUSY]), c: a } })
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    const running = sallyport.worker.runDue()
    await settled()
    const { cancelled, dispatch } = (await sallyport.dispatches.cancel(dispatchId)) ?? {}
    expect(cancelled?.map(({ channel }) => channel)).toEqual(['b', 'c'])
    expect(dispatch).toMatchObject({ status: 'queued', deliveries: [{ status: 'sending' }, {}, {}] })
    finish(SENT)
    await running
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
      status: 'sent',
      deliveries: [{ status: 'sent' }, { status: 'cancelled' }, { status: 'cancelled' }],
    })
  })

  it('dispatches.cancel may be called twice', async () => {
    const { sallyport } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    const first = await sallyport.dispatches.cancel(dispatchId)
    expect(await sallyport.dispatches.cancel(dispatchId)).toEqual({ cancelled: [], dispatch: first?.dispatch })
  })

  it('dispatches.cancel stops a delayed delivery', async () => {
    const { sallyport, clock, sentBy } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL, { delayMs: 1_000 }))
    await sallyport.dispatches.cancel(dispatchId)
    clock.advance(2_000)
    await sallyport.worker.runDue()
    expect(sentBy()).toEqual([0, 0, 0])
    expect((await sallyport.dispatches.get(dispatchId))?.deliveries[0]).not.toHaveProperty('nextAttemptAt')
  })

  it('dispatches.cancel returns undefined for an unknown dispatch and for one of another tenant', async () => {
    const { sallyport } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL, { tenant: 'acme' }))
    expect(await sallyport.dispatches.cancel(dispatchId)).toBeUndefined()
    expect(await sallyport.dispatches.cancel(dispatchId, { tenant: 'other' })).toBeUndefined()
    expect(await sallyport.dispatches.cancel('dsp_none', { tenant: 'acme' })).toBeUndefined()
    expect(await sallyport.dispatches.get(dispatchId, { tenant: 'acme' })).toMatchObject({ status: 'queued' })
    expect((await sallyport.dispatches.cancel(dispatchId, { tenant: 'acme' }))?.cancelled).toHaveLength(2)
  })

  it('dispatches.cancel does not change the replayed answer of the idempotency key', async () => {
    const { sallyport } = answering([SENT])
    const first = took(await sallyport.dispatch(ALL, { idempotencyKey: 'k' }))
    await sallyport.dispatches.cancel(first.dispatchId)
    expect(took(await sallyport.dispatch(ALL, { idempotencyKey: 'k' }))).toEqual({ ...first, duplicate: true })
  })
})

describe('retry', () => {
  it('dispatches.retry retries failed deliveries at once, and returns exactly those', async () => {
    const { sallyport, sentBy } = answering([REJECTED, SENT])
    const { dispatchId, deliveries } = took(await sallyport.dispatch(ALL))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'partial' })
    const retried = await sallyport.dispatches.retry(dispatchId)
    expect(retried?.retried).toEqual([
      { deliveryId: deliveries[0]?.deliveryId, channel: 'a', status: 'queued', attempts: 1 },
    ])
    expect(retried?.dispatch).toMatchObject({ dispatchId, status: 'queued' })
    expect(retried?.dispatch).toEqual(await sallyport.dispatches.get(dispatchId))
    expect(retried?.dispatch.deliveries[0]).not.toHaveProperty('reason')
    expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 1, sent: 1 })
    expect(sentBy()).toEqual([2, 1, 0])
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
      status: 'sent',
      deliveries: [{ status: 'sent', attempts: 2, attemptLog: [{ outcome: 'rejected' }, { outcome: 'sent' }] }, {}, {}],
    })
  })

  it('dispatches.retry starts the retry schedule again', async () => {
    const { sallyport, clock } = answering([BUSY])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    const statusOfA = async () => (await sallyport.dispatches.get(dispatchId))?.deliveries[0]?.status
    for (let round = 0; round < 2; round++) {
      await sallyport.worker.runDue()
      expect(await statusOfA()).toBe('queued')
      clock.advance(1_200)
      await sallyport.worker.runDue()
      expect(await statusOfA()).toBe('failed')
      await sallyport.dispatches.retry(dispatchId)
    }
    expect((await sallyport.dispatches.get(dispatchId))?.deliveries[0]?.attempts).toBe(4)
  })

  it('dispatches.retry retries an expired delivery with a full new expiry', async () => {
    const { sallyport, clock, sentBy } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    clock.advance(60_000)
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'failed' })
    expect((await sallyport.dispatches.retry(dispatchId))?.retried.map(({ channel }) => channel)).toEqual(['a', 'b'])
    clock.advance(59_999)
    await sallyport.worker.runDue()
    expect(sentBy()).toEqual([1, 1, 0])
  })

  it('dispatches.retry lets a delivery expire again after its new expiry', async () => {
    const { sallyport, clock, sentBy } = answering([REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    await sallyport.worker.runDue()
    await sallyport.dispatches.retry(dispatchId)
    clock.advance(60_000)
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ deliveries: [{ status: 'expired' }, {}, {}] })
    expect(sentBy()).toEqual([1, 1, 0])
  })

  it('dispatches.retry can be limited to one channel', async () => {
    const { sallyport } = answering([REJECTED], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    await sallyport.worker.runDue()
    const retried = await sallyport.dispatches.retry(dispatchId, { channel: 'b' })
    expect(retried?.retried.map(({ channel }) => channel)).toEqual(['b'])
    expect(retried?.dispatch).toMatchObject({ status: 'partial', deliveries: [{ status: 'failed' }, {}, {}] })
    expect((await sallyport.dispatches.retry(dispatchId, { channel: 'c' }))?.retried).toEqual([])
    expect((await sallyport.dispatches.retry(dispatchId, { channel: 'pigeon' }))?.retried).toEqual([])
  })

  it('dispatches.retry leaves deliveries that are queued, sent, skipped or cancelled', async () => {
    const { sallyport } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    expect(await sallyport.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: { status: 'queued' } })
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: { status: 'sent' } })
    const other = took(await sallyport.dispatch(ALL)).dispatchId
    await sallyport.dispatches.cancel(other)
    expect(await sallyport.dispatches.retry(other)).toMatchObject({ retried: [], dispatch: { status: 'cancelled' } })
  })

  it('dispatches.retry leaves deliveries that failed before they were rendered', async () => {
    const { sallyport } = answering([SENT])
    const { dispatchId } = took(await sallyport.dispatch({ ...JANE, eventType: 'broken' }))
    expect(await sallyport.dispatches.retry(dispatchId)).toMatchObject({
      retried: [],
      dispatch: { status: 'failed', deliveries: [{ reason: 'template_error' }] },
    })
  })

  it('dispatches.retry returns undefined for an unknown dispatch and for one of another tenant', async () => {
    const { sallyport } = answering([REJECTED], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(ALL, { tenant: 'acme' }))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.retry(dispatchId)).toBeUndefined()
    expect(await sallyport.dispatches.retry('dsp_none', { tenant: 'acme' })).toBeUndefined()
    expect(await sallyport.dispatches.get(dispatchId, { tenant: 'acme' })).toMatchObject({ status: 'failed' })
    expect((await sallyport.dispatches.retry(dispatchId, { tenant: 'acme', channel: 'a' }))?.retried).toHaveLength(1)
  })

  it('dispatches.retry wakes a running worker', async () => {
    const { sallyport, clock, sentBy } = answering([REJECTED, SENT])
    sallyport.worker.start()
    const { dispatchId } = took(await sallyport.dispatch(ALL))
    for (let round = 0; round < 5; round++) {
      await settled()
      clock.advance(10)
    }
    expect(sentBy()).toEqual([1, 1, 0])
    await sallyport.dispatches.retry(dispatchId)
    for (let round = 0; round < 5; round++) {
      await settled()
      clock.advance(0)
    }
    expect(sentBy()).toEqual([2, 1, 0])
    await sallyport.worker.stop()
  })
})

function fail(): never {
  throw new Error('no')
}
