import { compoundKey } from './compound-key.ts'
import type { DeliveryRow, DigestRow } from './dispatch-rows.ts'

/** All that a digest is gathered by. With the address: what was resolved to one is not sent to another. */
export function digestKey({ dispatch: { head }, channel, address = '' }: DeliveryRow, { key }: DigestRow): string {
  return compoundKey(head.tenant, channel, key, head.eventType, head.recipient, address)
}

/** Whether an event may join it, once it is not due yet. */
export function isOpenDigest({ status, content, digest }: DeliveryRow): boolean {
  return digest !== undefined && status === 'queued' && !content && digest.events.length < digest.max
}
