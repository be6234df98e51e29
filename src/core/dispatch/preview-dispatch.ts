import type { Content, Delivery, DispatchAnswer, DispatchStatus, Warning } from '../../model/dispatch.ts'
import { statusOfDispatch } from '../../model/dispatch-status.ts'
import { writeInstant } from '../write-instant.ts'
import type { DispatchOrigin } from './new-dispatch.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'

/** One channel of a dispatch that was only planned. */
export interface PreviewedDelivery extends Pick<Delivery, 'channel' | 'status' | 'reason' | 'trace'> {
  /** Why it would be `failed`. */
  readonly detail?: string
  /** Enough to recognise it, not enough to use it. */
  readonly address?: string
  /** Of an event that is digested: as it would be if no other joined it. */
  readonly content?: Content
  /** Absent when it would be due at once. */
  readonly nextAttemptAt?: string
}

/**
 * The answer to `?dryRun=true`: what would become of the event. Nothing was stored, nothing will be sent. Throttles are not
 * looked at: they count when an event is stored.
 */
export interface DispatchPreview extends Pick<DispatchAnswer, 'eventType' | 'sessionId' | 'sandboxed' | 'warnings'> {
  readonly dryRun: true
  readonly status: DispatchStatus
  readonly deliveries: readonly PreviewedDelivery[]
}

/** Shows a plan to whoever asked for it. */
export function previewDispatch(
  { deliveries }: Plan,
  { event: { eventType, route }, request: { sessionId }, sandbox, now }: DispatchOrigin,
  warnings: readonly Warning[],
): DispatchPreview {
  return {
    dryRun: true,
    status: statusOfDispatch(
      deliveries.map(({ status }) => status),
      route,
    ),
    eventType,
    ...(sessionId !== undefined && { sessionId }),
    ...(sandbox && { sandboxed: true }),
    warnings,
    deliveries: deliveries.map((planned) => previewDelivery(planned, now)),
  }
}

function previewDelivery(planned: PlannedDelivery, now: number): PreviewedDelivery {
  if (!('address' in planned)) return planned
  const address = maskAddress(planned.address)
  if (planned.status === 'skipped') return { ...planned, address }
  const { channel, status, content, delayMs } = planned
  return {
    channel,
    status,
    address,
    content,
    ...(delayMs !== undefined && { nextAttemptAt: writeInstant(now + delayMs) }),
  }
}

/** `jane@example.com` as `j…@example.com`, `+4915112345678` as `+49…78`, a URL as its origin, anything else as its first letter. */
export function maskAddress(address: string): string {
  if (/^https?:/i.test(address) && URL.canParse(address)) return `${new URL(address).origin}/…`
  if (address.startsWith('+')) return `${address.slice(0, 3)}…${address.slice(-2)}`
  const [first = ''] = address
  const at = address.lastIndexOf('@')
  return at > 0 ? `${first}…${address.slice(at)}` : `${first}…`
}
