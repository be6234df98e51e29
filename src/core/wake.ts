import type { DeliveryStatus } from '../model/dispatch.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { NewDelivery } from '../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from './answers/report-fault.ts'

/** Wakes workers. The deliveries are stored, so a failing queue only delays them until the next poll. */
export function wake(queue: DeliveryQueue | undefined, deps: FaultDeps, delayMs = 0): void {
  callQueue(() => queue?.wake(delayMs), deps)
}

/** Calls a queue, whose errors are reported as `queue.wake_failed`. Never throws. */
export function callQueue(call: () => unknown, deps: FaultDeps): void {
  const failed = (cause: unknown): void =>
    reportFault(cause, { operation: 'queue' }, { level: 'error', event: 'queue.wake_failed' }, deps)
  try {
    const given: unknown = call()
    if (given instanceof Promise) given.catch(failed)
  } catch (cause) {
    failed(cause)
  }
}

export function wakeFor(
  stored: readonly { readonly status: DeliveryStatus }[],
  planned: readonly NewDelivery[],
  deps: FaultDeps & { readonly queue?: DeliveryQueue },
): void {
  if (!deps.queue || !stored.some(({ status }) => status === 'queued')) return
  const delays = new Set([0])
  for (const { status, delayMs = 0 } of planned) if (status === 'queued') delays.add(delayMs)
  for (const delayMs of delays) wake(deps.queue, deps, delayMs)
}
