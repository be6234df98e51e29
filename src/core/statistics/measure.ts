import type { DispatchAnswer, DispatchHead } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../model/dispatch-results.ts'
import type { Measure } from './measurement.ts'

export interface MeasureDeps {
  /** Receives measurements. Default: nothing is measured. */
  readonly measure?: Measure | undefined
}

type Head = Pick<DispatchHead, 'tenant' | 'eventType'>

/** Measures an accepted dispatch, and its deliveries that are already final. */
export function measureAccepted({ deliveries }: DispatchAnswer, head: Head, deps: MeasureDeps): void {
  const { tenant, eventType } = head
  deps.measure?.({ of: 'accepted', tenant, eventType })
  measureChanges(deliveries, head, deps)
}

type Measured = Pick<DeliveryChange, 'channel' | 'status' | 'reason'>

/** Measures deliveries that have a final status now. */
export function measureChanges(changes: readonly Measured[], head: Head, deps: MeasureDeps): void {
  if (deps.measure) for (const change of changes) measureChange(change, head, deps)
}

export function measureChange(
  { channel, status, reason }: Measured,
  { tenant, eventType }: Head,
  { measure }: MeasureDeps,
  latencyMs?: number,
): void {
  if (status !== 'sent' && status !== 'failed' && status !== 'skipped' && status !== 'expired') return
  measure?.({ of: 'delivery', tenant, eventType, channel, result: status, reason, latencyMs })
}
