import type { Attributes, Meter } from '@opentelemetry/api'
import type { DeliveryMeasurement, Measurement, RunMeasurement } from '../model/measurement.ts'
import type { Statistics } from '../model/statistics.ts'
import { definedAttributes } from './run-span.ts'

/** The members of a Sallyport that {@link otelMetrics} uses. */
export interface MeasuredSallyport {
  /** The plugin `statistics` adds it. Absent: the gauges have no values. */
  stats?(options: { readonly windowMs: number; readonly tenant?: string | undefined }): Promise<Statistics>
  onMeasurement(listener: (measurement: Measurement) => void): () => void
}

/** Seconds. */
const DURATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200]

const WINDOW_MS = 60_000

/** Creates the instruments and listens. Returns a function that ends it. */
export function recordMetrics(sallyport: MeasuredSallyport, meter: Meter, tenant: string | undefined): () => void {
  const accepted = meter.createCounter('sallyport.dispatch.accepted', {
    unit: '{dispatch}',
    description: 'Accepted dispatches.',
  })
  const deliveries = meter.createCounter('sallyport.delivery.ended', {
    unit: '{delivery}',
    description: 'Deliveries that were sent, failed, expired or were skipped.',
  })
  const retries = meter.createCounter('sallyport.delivery.retries', {
    unit: '{attempt}',
    description: 'Attempts after which a delivery was queued again.',
  })
  const duration = meter.createHistogram('sallyport.delivery.duration', {
    unit: 's',
    description: 'Time from acceptance until the provider accepted a delivery that was not deferred.',
    advice: { explicitBucketBoundaries: DURATION_BUCKETS },
  })
  const started = meter.createCounter('sallyport.run.recorded', {
    unit: '{run}',
    description: 'Runs that were first recorded.',
  })
  const ended = meter.createCounter('sallyport.run.ended', { unit: '{run}', description: 'Runs that first ended.' })
  const due = meter.createObservableGauge('sallyport.delivery.due', {
    unit: '{delivery}',
    description: 'Deliveries that are due now, up to 10,000.',
  })
  const oldest = meter.createObservableGauge('sallyport.delivery.oldest_due', {
    unit: 's',
    description: 'Time since the oldest due delivery was due.',
  })
  const alive = meter.createObservableGauge('sallyport.worker.alive', {
    unit: '{worker}',
    description: 'Workers of all tenants that are alive.',
  })
  const gauges = [due, oldest, alive]

  function recordDelivery({ channel, eventType, result, reason, latencyMs }: DeliveryMeasurement): void {
    const place = { 'sallyport.channel': channel, 'sallyport.event_type': eventType }
    if (result === 'retried') {
      retries.add(1, place)
      return
    }
    const error = result === 'sent' || result === 'skipped' ? undefined : (reason ?? result)
    deliveries.add(
      1,
      definedAttributes({ ...place, 'sallyport.result': result, 'sallyport.reason': reason, 'error.type': error }),
    )
    if (latencyMs !== undefined) duration.record(latencyMs / 1_000, place)
  }

  function recordRun({ isNew, ended: status }: RunMeasurement): void {
    if (isNew) started.add(1)
    if (status !== undefined) ended.add(1, { 'agent.run.status': status })
  }

  const stopListening = sallyport.onMeasurement((measurement) => {
    if (measurement.of === 'delivery') recordDelivery(measurement)
    else if (measurement.of === 'run') recordRun(measurement)
    else accepted.add(1, { 'sallyport.event_type': measurement.eventType })
  })

  async function observe(result: {
    observe(gauge: typeof due, value: number, attributes?: Attributes): void
  }): Promise<void> {
    // A failing store gives no values: an alert on absent data notices it, and other instruments are collected.
    const statistics = await sallyport.stats?.({ windowMs: WINDOW_MS, tenant }).catch(() => undefined)
    if (!statistics) return
    result.observe(alive, statistics.workersAlive)
    if (!statistics.due) return
    result.observe(due, statistics.due.count)
    result.observe(oldest, (statistics.due.oldestMs ?? 0) / 1_000)
  }

  meter.addBatchObservableCallback(observe, gauges)
  return () => {
    stopListening()
    meter.removeBatchObservableCallback(observe, gauges)
  }
}
