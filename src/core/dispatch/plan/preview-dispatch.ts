import {
  type DispatchPreview,
  type PreviewedDelivery,
  statusOfDispatch,
  type Warning,
} from '../../../model/dispatch.ts'
import { writeInstant } from '../../../model/instants.ts'
import { parseUrl } from '../../../model/parse-url.ts'
import type { DispatchOrigin } from './new-dispatch.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'

/**
 * Shows a plan to whoever asked for it.
 *
 * @param now When it was planned, epoch milliseconds.
 */
export function previewDispatch(
  { deliveries }: Plan,
  { event: { eventType, route }, request: { sessionId }, sandbox }: DispatchOrigin,
  now: number,
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
  const url = /^https?:/i.test(address) ? parseUrl(address) : undefined
  if (url) return `${url.origin}/…`
  if (address.startsWith('+')) return `${address.slice(0, 3)}…${address.slice(-2)}`
  const [first = ''] = address
  const at = address.lastIndexOf('@')
  return at > 0 ? `${first}…${address.slice(at)}` : `${first}…`
}
