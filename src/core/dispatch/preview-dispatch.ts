import type { Content, Delivery, DispatchAnswer, DispatchStatus, Warning } from '../../model/dispatch.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import { statusOfDispatch } from './dispatch-view.ts'
import type { Plan } from './plan-dispatch.ts'

/** One channel of a dispatch that was only planned. */
export interface PreviewedDelivery extends Pick<Delivery, 'channel' | 'status' | 'reason' | 'trace'> {
  /** Enough to recognise it, not enough to use it. */
  readonly address?: string
  readonly content?: Content
}

/** The answer to `?dryRun=true`: what would become of the event. Nothing was stored, nothing will be sent. */
export interface DispatchPreview extends Pick<DispatchAnswer, 'eventType' | 'sessionId' | 'warnings'> {
  readonly dryRun: true
  readonly status: DispatchStatus
  readonly deliveries: readonly PreviewedDelivery[]
}

/** Shows a plan to whoever asked for it. */
export function previewDispatch(
  { eventType, route }: CatalogEvent,
  { deliveries }: Plan,
  sessionId: string | undefined,
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
    warnings,
    deliveries: deliveries.map((delivery) =>
      'address' in delivery ? { ...delivery, address: maskAddress(delivery.address) } : delivery,
    ),
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
