import type { ClaimQueue } from '../rules/claim-priority.ts'
import { digestKey, isOpenDigest } from '../rules/digests.ts'
import type { DeliveryRow, DigestEvent, DigestRow, DispatchRow } from '../rules/dispatch-rows.ts'
import { timePart } from '../rules/time-part.ts'
import { documentKey, prefixOf } from './keys.ts'
import type { DocumentEntries } from './transaction.ts'

/** A stored delivery: has ids of dispatches instead of their rows. */
export interface StoredDelivery extends Omit<DeliveryRow, 'dispatch' | 'cancelledBy' | 'digest'> {
  readonly dispatch: string
  readonly cancelledBy: readonly string[] | undefined
  readonly digest: (Omit<DigestRow, 'events'> & { readonly events: readonly StoredEvent[] }) | undefined
}

interface StoredEvent extends Omit<DigestEvent, 'dispatch'> {
  readonly dispatch: string
}

/** Index document of a waiting delivery: `waiting/<channel>/<priority>/<time>/<id>`. */
export interface WaitingDelivery {
  readonly deliveryId: string
  readonly tenant: string
  readonly concurrencyKey?: string | undefined
}

/** Prefix of the waiting deliveries of a queue, by time. */
export function waitingKey({ channel, priority }: ClaimQueue): string {
  return prefixOf('waiting', channel, `${priority}`)
}

/** Prefix of the waiting deliveries of a queue, by tenant and time: `turns/<channel>/<priority>/<tenant>/<time>/<id>`. */
export function turnKey({ channel, priority }: ClaimQueue, ...tenant: readonly string[]): string {
  return prefixOf('turns', channel, `${priority}`, ...tenant)
}

/** Prefix of deliveries by the time when they can expire: `expiring/<time>/<id>`. */
export const EXPIRING = 'expiring/'

export function deliveryKey(deliveryId: string): string {
  return documentKey('delivery', deliveryId)
}

/** Key of the document that lists the digests which an event can join. */
export function openDigestsKey(row: DeliveryRow): string | undefined {
  return row.digest && documentKey('digests', digestKey(row, row.digest))
}

/** Key of the document that lists a delivery as an open digest; `undefined` if events cannot join it. */
export function openDigestOf(row: DeliveryRow): string | undefined {
  return isOpenDigest(row) ? openDigestsKey(row) : undefined
}

export function isWaiting({ slot }: DeliveryRow): boolean {
  return slot >= 0
}

/** Index documents of a delivery. It expires at the later of `wakeAt` and `expiresAt`. */
export function deliveryEntries(row: DeliveryRow): DocumentEntries {
  const { deliveryId, concurrencyKey, wakeAt, expiresAt } = row
  if (!isWaiting(row)) return {}
  const { tenant } = row.dispatch.head
  const waiting: WaitingDelivery = { deliveryId, tenant, concurrencyKey }
  return {
    [`${turnKey(row, tenant)}${timePart(wakeAt)}/${documentKey(deliveryId)}`]: waiting,
    [`${waitingKey(row)}${timePart(wakeAt)}/${documentKey(deliveryId)}`]: waiting,
    [`${EXPIRING}${timePart(Math.max(wakeAt, expiresAt))}/${documentKey(deliveryId)}`]: { deliveryId },
  }
}

export function storedDelivery({ dispatch, cancelledBy, digest, ...rest }: DeliveryRow): StoredDelivery {
  const idOf = ({ head }: DispatchRow): string => head.dispatchId
  const events = digest?.events.map((event) => ({ ...event, dispatch: idOf(event.dispatch) }))
  return {
    ...rest,
    dispatch: idOf(dispatch),
    cancelledBy: cancelledBy && [...cancelledBy].map(idOf),
    digest: digest && { ...digest, events: events ?? [] },
  }
}

export async function deliveryRowOf(
  stored: StoredDelivery,
  rowOf: (dispatchId: string) => Promise<DispatchRow>,
): Promise<DeliveryRow> {
  const { digest, cancelledBy } = stored
  const events = []
  for (const event of digest?.events ?? []) events.push({ ...event, dispatch: await rowOf(event.dispatch) })
  const owners = []
  for (const id of cancelledBy ?? []) owners.push(await rowOf(id))
  return {
    ...stored,
    dispatch: await rowOf(stored.dispatch),
    cancelledBy: cancelledBy && new Set(owners),
    digest: digest && { ...digest, events },
  }
}
