import type { DeliveryStatus, DispatchStatus, Route } from './dispatch.ts'

/**
 * The state of a dispatch. `partial`: something failed, and something else was or may still be sent. With `first` one
 * success is all that was asked for, so what failed before it does not count.
 */
export function statusOfDispatch(statuses: readonly DeliveryStatus[], route: Route): DispatchStatus {
  const has = (...wanted: readonly DeliveryStatus[]): boolean => statuses.some((status) => wanted.includes(status))
  const open = has('queued', 'sending', 'held')
  const lost = has('failed', 'expired')
  if (lost && route === 'all' && (open || has('sent'))) return 'partial'
  if (open) return 'queued'
  if (has('sent')) return 'sent'
  if (lost) return 'failed'
  return has('cancelled') ? 'cancelled' : 'skipped'
}
