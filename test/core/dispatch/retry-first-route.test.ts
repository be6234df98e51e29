import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed, ends, took } from '../../compose/composed.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

const FIRST = { eventType: 'first', recipient: 'jane@example.com' } as const
const SENT: SendOutcome = { outcome: 'sent' }
const REJECTED: SendOutcome = { outcome: 'rejected', code: 'gone' }
const BUSY: SendOutcome = { outcome: 'retry', code: 'busy' }

const events = defineEvents({ first: { route: 'first', channels: { a: {}, b: {}, c: {} } } })

/** Channels a, b and c with the given answers and one retry each. */
function answering(a: readonly SendOutcome[], b: readonly SendOutcome[] = [SENT], c: readonly SendOutcome[] = [SENT]) {
  const channel = (answers: readonly SendOutcome[]): RecordingChannel =>
    recordingChannel(answers, { retrySchedule: [1_000] })
  const channels = { a: channel(a), b: channel(b), c: channel(c) }
  const { sallyport } = composed(events, { channels })
  return { sallyport, sentBy: () => Object.values(channels).map(({ sent }) => sent.length) }
}

describe('retry on the first route', () => {
  it('A retry on the route first queues the first failed channel and holds the others', async () => {
    const { sallyport } = answering([REJECTED, SENT], [REJECTED], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'failed' })
    const { retried = [], dispatch } = (await sallyport.dispatches.retry(dispatchId)) ?? {}
    expect(retried.map(({ channel, status }) => [channel, status])).toEqual([
      ['a', 'queued'],
      ['b', 'held'],
      ['c', 'held'],
    ])
    expect(dispatch).toMatchObject({ status: 'queued' })
    await sallyport.worker.runDue()
    expect(ends((await sallyport.dispatches.get(dispatchId)) ?? { deliveries: [] })).toEqual([
      'a: sent',
      'b: skipped fallback_unneeded',
      'c: skipped fallback_unneeded',
    ])
  })

  it('A retry on the route first falls back again after another rejection', async () => {
    const { sallyport } = answering([REJECTED], [REJECTED, SENT], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    await sallyport.dispatches.retry(dispatchId)
    await sallyport.worker.runDue()
    expect(ends((await sallyport.dispatches.get(dispatchId)) ?? { deliveries: [] })).toEqual([
      'a: failed provider_rejected',
      'b: sent',
      'c: skipped fallback_unneeded',
    ])
  })

  it('A retry on the route first does nothing if another channel was sent', async () => {
    const { sallyport, sentBy } = answering([REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    for (const options of [{}, { channel: 'a' }]) {
      expect(await sallyport.dispatches.retry(dispatchId, options)).toMatchObject({
        retried: [],
        dispatch: { status: 'sent' },
      })
    }
    await sallyport.worker.runDue()
    expect(sentBy()).toEqual([1, 1, 0])
  })

  it('A retry on the route first does nothing while another channel is open', async () => {
    const { sallyport } = answering([REJECTED], [BUSY])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.retry(dispatchId, { channel: 'a' })).toMatchObject({
      retried: [],
      dispatch: { status: 'queued', deliveries: [{ status: 'failed' }, { status: 'queued' }, { status: 'held' }] },
    })
  })

  it('A retry of one channel on the route first leaves the others failed', async () => {
    const { sallyport } = answering([REJECTED], [REJECTED], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    const { retried, dispatch } = (await sallyport.dispatches.retry(dispatchId, { channel: 'b' })) ?? {}
    expect(retried?.map(({ channel, status }) => [channel, status])).toEqual([['b', 'queued']])
    expect(dispatch?.deliveries.map(({ status }) => status)).toEqual(['failed', 'queued', 'failed'])
  })
  it('A retry on the route first opens no digest, although the event has one by now', async () => {
    const broken = (): string => {
      throw new TypeError('no such helper')
    }
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const before = defineEvents({ first: { route: 'first', channels: { a: { text: broken }, b: { text: broken } } } })
    const { dispatchId } = took(await composed(before, { store, clock }).sallyport.dispatch(FIRST))
    const channels = { a: { text: () => 'x' }, b: { text: () => 'x' } }
    const now = defineEvents({ first: { route: 'all', digest: { windowMs: 3_600_000 }, channels } })
    const retried = await composed(now, { store, clock }).sallyport.dispatches.retry(dispatchId)
    expect(retried?.dispatch.deliveries.map(({ status, eventCount }) => [status, eventCount])).toEqual([
      ['queued', undefined],
      ['held', undefined],
    ])
  })
})
