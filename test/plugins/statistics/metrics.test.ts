import { describe, expect, it } from 'vitest'
import { createSallyport, defineEvents } from '../../../src/index.ts'
import { otelMetrics } from '../../../src/otel/index.ts'
import { statistics } from '../../../src/plugins/statistics/statistics.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { telemetry } from '../../otel/telemetry.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const events = defineEvents({ sent: { channels: { good: { text: () => 'x' } } } })
const SENT = { eventType: 'sent', recipient: 'jane@example.com' } as const

function newHost() {
  const clock = fakeClock()
  return { clock, store: memoryStore({ clock }) }
}

/** A process with a reader of its own, on a store that several may share. */
function process({ clock, store } = newHost(), tenant?: string) {
  const sallyport = createSallyport({
    ...{ auth: testAuth, store, events, clock, logger: recordingLogger() },
    channels: { good: recordingChannel() },
    plugins: [statistics()],
  })
  const sdk = telemetry()
  const stop = otelMetrics(sallyport, { meterProvider: sdk.meterProvider, ...(tenant !== undefined && { tenant }) })
  const values = async (name: string) => (await sdk.points(name)).map(({ value }) => value)
  return { sallyport, clock, sdk, stop, values }
}

describe('the metrics of several processes', () => {
  it('Counters are of one process, gauges of all', async () => {
    const shared = newHost()
    const [one, other] = [process(shared), process(shared)]
    await one.sallyport.dispatch(SENT)
    shared.clock.advance(2_000)
    expect([
      await one.values('sallyport.dispatch.accepted'),
      await other.values('sallyport.dispatch.accepted'),
    ]).toEqual([[1], []])
    for (const each of [one, other]) {
      expect(await each.values('sallyport.delivery.due')).toEqual([1])
      expect(await each.values('sallyport.delivery.oldest_due')).toEqual([2])
    }
    await other.sallyport.worker.runDue()
    expect([await one.values('sallyport.delivery.ended'), await other.values('sallyport.delivery.ended')]).toEqual([
      [],
      [1],
    ])
    expect(await one.values('sallyport.worker.alive')).toEqual([1])
  })

  it('Gauges are of one tenant, counters of all', async () => {
    const { sallyport, values, sdk } = process(newHost(), 'acme')
    await sallyport.dispatch(SENT, { tenant: 'acme' })
    await sallyport.dispatch(SENT)
    expect([await values('sallyport.delivery.due'), await values('sallyport.dispatch.accepted')]).toEqual([[1], [2]])
    const all = (await sdk.metrics()).flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes))
    expect(JSON.stringify(all)).not.toContain('acme')
  })
})

describe('the gauges of a host', () => {
  it('Gauges show what is due and the workers alive, read once for each collection', async () => {
    const { sallyport, clock, sdk } = process()
    await sallyport.dispatch(SENT)
    clock.advance(3_000)
    expect(await sdk.points('sallyport.delivery.due')).toStrictEqual([{ attributes: {}, value: 1 }])
    expect(await sdk.points('sallyport.delivery.oldest_due')).toStrictEqual([{ attributes: {}, value: 3 }])
    expect(await sdk.points('sallyport.worker.alive')).toStrictEqual([{ attributes: {}, value: 0 }])
    await sallyport.worker.runDue()
    expect(await sdk.points('sallyport.worker.alive')).toStrictEqual([{ attributes: {}, value: 1 }])
  })

  it('A store that fails gives no gauges, and the counters are collected', async () => {
    const clock = fakeClock()
    const store = { ...memoryStore({ clock }), countUnexpired: () => Promise.reject(new Error('down')) }
    const { sallyport, sdk } = process({ clock, store })
    await sallyport.dispatch(SENT)
    const names = (await sdk.metrics()).map(({ descriptor }) => descriptor.name)
    expect(names).toContain('sallyport.dispatch.accepted')
    expect(names).not.toContain('sallyport.delivery.due')
  })

  it('Every instrument has its unit', async () => {
    const { sallyport, clock, sdk } = process()
    await sallyport.dispatch(SENT)
    await sallyport.worker.runDue()
    clock.advance(1)
    const units = (await sdk.metrics()).map(({ descriptor: { name, unit } }) => [name, unit])
    expect(Object.fromEntries(units)).toEqual({
      'sallyport.dispatch.accepted': '{dispatch}',
      'sallyport.delivery.ended': '{delivery}',
      'sallyport.delivery.duration': 's',
      'sallyport.delivery.due': '{delivery}',
      'sallyport.delivery.oldest_due': 's',
      'sallyport.worker.alive': '{worker}',
    })
  })

  it('A host that only records runs has the gauge of workers, and none of what is due', async () => {
    const { clock, store } = newHost()
    const sdk = telemetry()
    const sallyport = createSallyport({
      auth: testAuth,
      store,
      clock,
      logger: recordingLogger(),
      plugins: [statistics()],
    })
    otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
    expect((await sdk.metrics()).map(({ descriptor }) => descriptor.name)).toEqual(['sallyport.worker.alive'])
  })
})
