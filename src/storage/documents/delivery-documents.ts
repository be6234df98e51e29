import {
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  digestKey,
  isOpenDigest,
} from '../rules/dispatch-rows.ts'
import { documentKey, timePart } from './keys.ts'
import type { DocumentEntries } from './transaction.ts'

/** A stored delivery: ids of dispatches in place of their rows. */
export interface StoredDelivery extends Omit<DeliveryRow, 'dispatch' | 'cancelledBy' | 'digest'> {
  readonly dispatch: string
  readonly cancelledBy: readonly string[] | undefined
  readonly digest: (Omit<DigestRow, 'events'> & { readonly events: readonly StoredEvent[] }) | undefined
}

interface StoredEvent extends Omit<DigestEvent, 'dispatch'> {
  readonly dispatch: string
}

/** The index document of a waiting delivery, `waiting/<channel>/<time>/<id>`. */
export interface WaitingDelivery {
  readonly deliveryId: string
  readonly concurrencyKey?: string | undefined
}

/** Prefix of the deliveries that expire next: `expiring/<time>/<id>`. */
export const EXPIRING = 'expiring/'

export function deliveryKey(deliveryId: string): string {
  return documentKey('delivery', deliveryId)
}

/** The document of the digests that an event can join: the ids of their deliveries. */
export function openDigestsKey(row: DeliveryRow): string | undefined {
  return row.digest && documentKey('digests', digestKey(row, row.digest))
}

/** The document that lists a delivery as an open digest; `undefined` if events cannot join it. */
export function openDigestOf(row: DeliveryRow): string | undefined {
  return isOpenDigest(row) ? openDigestsKey(row) : undefined
}

/** Whether a delivery waits for a time: to be due, or for its lease to end. */
export function isWaiting({ slot }: DeliveryRow): boolean {
  return slot >= 0
}

/** The index documents of a delivery. It expires once it is past its expiry and waits for nothing before that. */
export function deliveryEntries(row: DeliveryRow): DocumentEntries {
  const { deliveryId, channel, concurrencyKey, wakeAt, expiresAt } = row
  if (!isWaiting(row)) return {}
  const waiting: WaitingDelivery = { deliveryId, concurrencyKey }
  return {
    [`${documentKey('waiting', channel)}/${timePart(wakeAt)}/${documentKey(deliveryId)}`]: waiting,
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

/** The row of a stored delivery. `rowOf` gives the rows of its dispatches. */
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
