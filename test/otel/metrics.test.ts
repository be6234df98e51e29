import { describe, expect, it } from 'vitest'
import { createSallyport, defineEvents } from '../../src/index.ts'
import { otelMetrics } from '../../src/otel/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { telemetry } from './telemetry.ts'

const events = defineEvents({
  sent: { channels: { good: { text: () => 'x' } } },
  refused: { channels: { bad: { text: () => 'x' } } },
  retried: { channels: { busy: { text: () => 'x' } } },
})

function measured() {
  const clock = fakeClock()
  const channels = {
    good: recordingChannel(),
    bad: recordingChannel([{ outcome: 'rejected', code: 'no' }]),
    busy: recordingChannel([{ outcome: 'retry', code: 'busy' }]),
  }
  const store = memoryStore({ clock })
  const sallyport = createSallyport({
    auth: testAuth,
    store,
    events,
    channels,
    clock,
    logger: recordingLogger(),
  })
  const sdk = telemetry()
  const stop = otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
  const values = async (name: string) => (await sdk.points(name)).map(({ attributes, value }) => [attributes, value])
  return { sallyport, clock, sdk, stop, values }
}

describe('otelMetrics', () => {
  it('Counters and the histogram have the channel, the event and the outcome', async () => {
    const { sallyport, clock, values, sdk } = measured()
    for (const eventType of ['sent', 'sent', 'refused', 'retried'] as const)
      await sallyport.dispatch({ eventType, recipient: 'jane@example.com' })
    clock.advance(2_000)
    await sallyport.worker.runDue()
    const good = { 'sallyport.channel': 'good', 'sallyport.event_type': 'sent' }
    const bad = { 'sallyport.channel': 'bad', 'sallyport.event_type': 'refused' }
    expect(await values('sallyport.dispatch.accepted')).toEqual([
      [{ 'sallyport.event_type': 'sent' }, 2],
      [{ 'sallyport.event_type': 'refused' }, 1],
      [{ 'sallyport.event_type': 'retried' }, 1],
    ])
    expect(await values('sallyport.delivery.ended')).toEqual(
      expect.arrayContaining([
        [{ ...good, 'sallyport.result': 'sent' }, 2],
        [
          {
            ...bad,
            'sallyport.result': 'failed',
            'sallyport.reason': 'provider_rejected',
            'error.type': 'provider_rejected',
          },
          1,
        ],
      ]),
    )
    expect(await values('sallyport.delivery.retries')).toEqual([
      [{ 'sallyport.channel': 'busy', 'sallyport.event_type': 'retried' }, 1],
    ])
    const [duration] = await sdk.points('sallyport.delivery.duration')
    expect([duration?.attributes, duration?.value]).toEqual([good, expect.objectContaining({ count: 2, sum: 4 })])
  })

  it('After the end nothing is recorded', async () => {
    const { sallyport, stop, sdk } = measured()
    stop()
    await sallyport.dispatch({ eventType: 'sent', recipient: 'jane@example.com' })
    expect(await sdk.metrics()).toEqual([])
  })
})
