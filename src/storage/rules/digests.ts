import { compoundKey } from '../../model/compound-key.ts'
import type { DeliveryRow, DigestRow, DispatchRow } from './dispatch-rows.ts'

/**
 * Key of the digests that an event can join. It contains the address, so that events for one address are not sent to another, and the plugins,
 * because all events of a digest are sent under those of the first one.
 */
export function digestKey({ dispatch: { head }, channel, address = '' }: DeliveryRow, { key }: DigestRow): string {
  const { tenant, eventType, recipient, plugins = [] } = head
  return compoundKey(tenant, channel, key, eventType, recipient, address, ...plugins)
}

/** Whether events may join a digest until it is due. */
export function isOpenDigest({ status, content, digest }: DeliveryRow): boolean {
  return digest !== undefined && status === 'queued' && !content && digest.size < digest.max
}

/** Whether an event that both open digests may take joins this one: it opened first, or has the lesser id. */
export function openedBefore(one: DeliveryRow, other: DeliveryRow): boolean {
  const before = (one.digest?.opened ?? 0) - (other.digest?.opened ?? 0)
  return before < 0 || (before === 0 && one.deliveryId < other.deliveryId)
}

/** Adds the events of a new delivery to an open digest. */
export function joinDigest(open: DeliveryRow, into: DigestRow, row: DeliveryRow, digest: DigestRow): void {
  into.events.push(...digest.events)
  into.size += digest.size
  open.expiresAt = Math.max(open.expiresAt, row.expiresAt)
}

/** Takes the events of a dispatch out of a digest. Changes nothing and returns `false` if it has no others. */
export function leaveDigest(row: DeliveryRow, digest: DigestRow, dispatch: DispatchRow): boolean {
  const others = digest.events.filter((event) => event.dispatch !== dispatch)
  if (!others[0]) return false
  digest.events = others
  digest.size = others.length
  row.dispatch = others[0].dispatch
  row.cancelledBy?.delete(dispatch)
  return true
}
