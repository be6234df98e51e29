import type { DeliveryStatus } from '../../model/dispatch.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { NewDelivery } from '../../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'

/** What is stored is stored: a queue that fails, now or by and by, only means that a worker looks later. */
export function wake(queue: DeliveryQueue | undefined, deps: FaultDeps, delayMs = 0): void {
  const failed = (cause: unknown): void =>
    reportFault(cause, { operation: 'queue' }, { level: 'error', event: 'queue.wake_failed' }, deps)
  try {
    const asked: unknown = queue?.wake(delayMs)
    if (asked instanceof Promise) asked.catch(failed)
  } catch (cause) {
    failed(cause)
  }
}

/** Wakes now, so that workers know of what is queued, and when it is due, whoever is there by then. */
export function wakeFor(
  stored: readonly { readonly status: DeliveryStatus }[],
  planned: readonly NewDelivery[],
  deps: FaultDeps & { readonly queue?: DeliveryQueue },
): void {
  if (!stored.some(({ status }) => status === 'queued')) return
  const delays = planned.flatMap(({ status, delayMs = 0 }) => (status === 'queued' ? delayMs : []))
  for (const delayMs of new Set([0, ...delays])) wake(deps.queue, deps, delayMs)
}
