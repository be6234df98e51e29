import type { DeliveryView } from '../../../model/dispatch.ts'
import type { Redacted } from '../redacted.ts'

type Told = Partial<Pick<Redacted<DeliveryView>, 'status' | 'reason' | 'attempts'>>

const OPEN: ReadonlySet<unknown> = new Set(['queued', 'sending', 'held'])
const LOST: ReadonlySet<unknown> = new Set(['failed', 'expired'])
const ENDED: ReadonlySet<unknown> = new Set([...LOST, 'sent', 'skipped', 'cancelled'])

/** Why cancelling would do nothing; `undefined`: it may do something, also where `redact` hides a status. */
export function whyNotCancel(deliveries: readonly Told[]): string | undefined {
  return deliveries.every(({ status }) => ENDED.has(status)) ? 'Nothing is still to be sent.' : undefined
}

/**
 * Why a retry would do nothing; `undefined`: it may do something.
 *
 * @param status Of the dispatch: with the route `first`, one that was sent, or may be, is not `partial`.
 */
export function whyNotRetry(status: unknown, deliveries: readonly Told[]): string | undefined {
  const lost = deliveries.filter((each) => LOST.has(each.status))
  const areKnown = deliveries.every((each) => ENDED.has(each.status) || OPEN.has(each.status))
  if (lost.length === 0) return areKnown ? 'No delivery has failed or expired.' : undefined
  if (status === 'sent' || status === 'queued') return 'A later channel has sent it, or may still send it.'
  return lost.every(hasNoMessage) ? 'There is no message to send again: dispatch the event again.' : undefined
}

/** A channel that failed before its first attempt has rendered nothing. */
function hasNoMessage({ reason, attempts }: Told): boolean {
  return reason === 'channel_error' && attempts === 0
}

/** Whether all that was lost was refused for good, so that a retry sends the same to the same address. */
export function isRefused(deliveries: readonly Told[]): boolean {
  const lost = deliveries.filter((each) => LOST.has(each.status))
  return lost.length > 0 && lost.every(({ reason }) => reason === 'provider_rejected')
}
