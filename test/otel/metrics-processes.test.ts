import { metrics } from '@opentelemetry/api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Measurement } from '../../src/model/measurement.ts'
import { otelMetrics } from '../../src/otel/index.ts'
import { telemetry } from './telemetry.ts'

afterEach(() => metrics.disable())

/** A Sallyport whose measurements a test makes. */
function scripted() {
  const listeners = new Set<(measurement: Measurement) => void>()
  const stats = vi.fn(async () => ({ windowMs: 60_000, stepMs: 60_000, buckets: [], workersAlive: 2 }))
  const sallyport = {
    stats,
    onMeasurement(listener: (measurement: Measurement) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const measure = (measurement: Measurement): void => {
    for (const listener of listeners) listener(measurement)
  }
  return { sallyport, stats, measure, listeners }
}

describe('the metrics of scripted measurements', () => {
  it('The store is read once for each collection, for all gauges', async () => {
    const { sallyport, stats } = scripted()
    const sdk = telemetry()
    otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
    const names = (await sdk.metrics()).map(({ descriptor }) => descriptor.name)
    expect([names, stats.mock.calls]).toEqual([['sallyport.worker.alive'], [[{ windowMs: 60_000, tenant: undefined }]]])
  })

  it('Every result of a delivery has its attributes, and only a sent one a duration', async () => {
    const { sallyport, measure } = scripted()
    const sdk = telemetry()
    otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
    const delivery = { of: 'delivery', tenant: 't', eventType: 'e', channel: 'c' } as const
    measure({ ...delivery, result: 'sent', latencyMs: 400 })
    measure({ ...delivery, result: 'sent' })
    measure({ ...delivery, result: 'failed', reason: 'attempts_exhausted' })
    measure({ ...delivery, result: 'expired' })
    measure({ ...delivery, result: 'skipped', reason: 'condition_false' })
    measure({ ...delivery, result: 'retried' })
    const place = { 'sallyport.channel': 'c', 'sallyport.event_type': 'e' }
    const of = (result: string, more: object = {}) => ({ ...place, 'sallyport.result': result, ...more })
    expect(await sdk.points('sallyport.delivery.ended')).toStrictEqual([
      { attributes: of('sent'), value: 2 },
      {
        attributes: of('failed', { 'sallyport.reason': 'attempts_exhausted', 'error.type': 'attempts_exhausted' }),
        value: 1,
      },
      { attributes: of('expired', { 'error.type': 'expired' }), value: 1 },
      { attributes: of('skipped', { 'sallyport.reason': 'condition_false' }), value: 1 },
    ])
    expect(await sdk.points('sallyport.delivery.retries')).toStrictEqual([{ attributes: place, value: 1 }])
    expect(await sdk.points('sallyport.delivery.duration')).toMatchObject([
      { attributes: place, value: { count: 1, sum: 0.4, buckets: { boundaries: expect.arrayContaining([0.5, 60]) } } },
    ])
  })

  it('Runs are counted when they are first recorded and when they first end, without their tenant', async () => {
    const { sallyport, measure } = scripted()
    const sdk = telemetry()
    otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
    const none = { tokens: 0, cost: {} }
    const run = { of: 'run', tenant: 't', byApplication: none, byAgent: none } as const
    measure({ ...run, isNew: true })
    measure({ ...run, isNew: false, byAgent: { tokens: 5, cost: {} } })
    measure({ ...run, isNew: false, ended: 'failed' })
    expect(await sdk.points('sallyport.run.recorded')).toStrictEqual([{ attributes: {}, value: 1 }])
    expect(await sdk.points('sallyport.run.ended')).toStrictEqual([
      { attributes: { 'agent.run.status': 'failed' }, value: 1 },
    ])
  })

  it('After the end the store is not read and nothing listens', async () => {
    const { sallyport, stats, listeners } = scripted()
    const sdk = telemetry()
    const stop = otelMetrics(sallyport, { meterProvider: sdk.meterProvider })
    stop()
    stop()
    expect([await sdk.metrics(), stats.mock.calls, listeners.size]).toEqual([[], [], 0])
  })

  it('Without an option the registered provider receives the instruments', async () => {
    const sdk = telemetry()
    metrics.setGlobalMeterProvider(sdk.meterProvider)
    const { sallyport, measure } = scripted()
    otelMetrics(sallyport)
    measure({ of: 'accepted', tenant: 't', eventType: 'e' })
    expect(await sdk.points('sallyport.dispatch.accepted')).toHaveLength(1)
  })
})
