import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { composed, ends, took } from '../../sallyport/composed.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

const FIRST = { eventType: 'first', recipient: 'jane@example.com' } as const
const SENT: SendOutcome = { outcome: 'sent' }
const REJECTED: SendOutcome = { outcome: 'rejected', code: 'gone' }
const BUSY: SendOutcome = { outcome: 'retry', code: 'busy' }

const events = defineEvents({ first: { route: 'first', channels: { a: {}, b: {}, c: {} } } })

/** Channels a, b and c that answer as told; one retry each, after a second. */
function answering(a: readonly SendOutcome[], b: readonly SendOutcome[] = [SENT], c: readonly SendOutcome[] = [SENT]) {
  const channel = (answers: readonly SendOutcome[]): RecordingChannel =>
    recordingChannel(answers, { retrySchedule: [1_000] })
  const channels = { a: channel(a), b: channel(b), c: channel(c) }
  const { sallyport } = composed(events, { channels })
  return { sallyport, sentBy: () => Object.values(channels).map(({ sent }) => sent.length) }
}

describe('retry on the first route', () => {
  it('queues the first and holds the others, when all of them failed', async () => {
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

  it('goes on from the first to the next once more', async () => {
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

  it('does nothing where another was sent', async () => {
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

  it('does nothing where another may yet be sent', async () => {
    const { sallyport } = answering([REJECTED], [BUSY])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.retry(dispatchId, { channel: 'a' })).toMatchObject({
      retried: [],
      dispatch: { status: 'queued', deliveries: [{ status: 'failed' }, { status: 'queued' }, { status: 'held' }] },
    })
  })

  it('of one channel leaves the others failed', async () => {
    const { sallyport } = answering([REJECTED], [REJECTED], [REJECTED])
    const { dispatchId } = took(await sallyport.dispatch(FIRST))
    await sallyport.worker.runDue()
    const { retried, dispatch } = (await sallyport.dispatches.retry(dispatchId, { channel: 'b' })) ?? {}
    expect(retried?.map(({ channel, status }) => [channel, status])).toEqual([['b', 'queued']])
    expect(dispatch?.deliveries.map(({ status }) => status)).toEqual(['failed', 'queued', 'failed'])
  })
})
