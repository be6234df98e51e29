import type { DispatchAnswer, DispatchHead } from '../model/dispatch.ts'
import type { DeliveryChange } from '../model/dispatch-results.ts'
import type { Measure } from '../model/measurement.ts'
import type { ClaimedDelivery, Settlement } from '../ports/dispatch-store.ts'

export interface MeasureDeps {
  /** Receives measurements. Default: nothing is measured. */
  readonly measure?: Measure | undefined
  /** Milliseconds after which a delivery expires. Default: never. */
  readonly expiresInMs?: number | undefined
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

/**
 * Measures the end of an attempt.
 *
 * @param result Other results, such as `released`, are not measured.
 * @param tookMs Milliseconds since the claim.
 */
export function measureAttempt(
  result: string,
  settlement: Settlement,
  { channel, waitedMs, deferred, attemptsBefore = 0, dispatch }: ClaimedDelivery,
  tookMs: number,
  { measure, expiresInMs = Number.POSITIVE_INFINITY }: MeasureDeps,
): void {
  if (!measure || (result !== 'sent' && result !== 'failed' && result !== 'skipped' && result !== 'retried')) return
  const { tenant, eventType } = dispatch
  const reason = result !== 'retried' && 'reason' in settlement ? settlement.reason : undefined
  // The wait of a deferred delivery is intended, and a retry by hand may come days later, also of one that expired before any attempt.
  const isTimed = result === 'sent' && !deferred && attemptsBefore === 0 && waitedMs <= expiresInMs
  const latencyMs = isTimed ? waitedMs + Math.max(0, tookMs) : undefined
  // No spread: this runs for every delivery.
  measure({ of: 'delivery', tenant, eventType, channel, result, reason, latencyMs })
}
