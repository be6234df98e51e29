import type { Attempt, Delivery, Digest, Dispatch } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { ClaimedDelivery, DeliveryChange } from '../../ports/dispatch-store.ts'
import type { DeliveryRow, DigestRow, DispatchRow } from './dispatch-rows.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A dispatch as it is stored, which shares nothing with what is stored. */
export function readDispatch({ head, deliveries }: DispatchRow): Dispatch {
  return { deliveries: deliveries.map(deliveryOf), ...head }
}

/** Members are set one by one here: it runs for every delivery, and spreading what may be absent costs several times as much. */
function deliveryOf(row: DeliveryRow): Delivery {
  const { deliveryId, channel, status, attempts, attemptLog } = row
  const delivery: Mutable<Delivery> = {
    deliveryId,
    channel,
    status,
    attempts,
    attemptLog: attemptLog?.map(copyAttempt) ?? [],
  }
  if (row.reason !== undefined) delivery.reason = row.reason
  if (status === 'queued') delivery.dueAt = row.wakeAt
  if (row.deferred) delivery.deferred = true
  if (row.concurrencyKey !== undefined) delivery.concurrencyKey = row.concurrencyKey
  if (row.lastCode !== undefined) delivery.lastCode = row.lastCode
  if (row.providerMessageId !== undefined) delivery.providerMessageId = row.providerMessageId
  if (row.trace) delivery.trace = copyJson(row.trace)
  if (row.address !== undefined) delivery.address = row.address
  if (row.content) delivery.content = copyJson(row.content)
  if (row.digest) delivery.eventCount = row.digest.events.length
  return delivery
}

/**
 * What a worker gets of a delivery that it has just leased.
 *
 * @param wasSending It was leased before, and that lease ended without a word.
 */
export function claimedDelivery(row: DeliveryRow, fence: string, now: number, wasSending = false): ClaimedDelivery {
  const { deliveryId, channel, address = '', attempts, attemptLog, dispatch } = row
  const claimed: Mutable<ClaimedDelivery> = {
    deliveryId,
    channel,
    address,
    attempts,
    history: attemptLog?.slice(0, -1).map(copyAttempt) ?? [],
    waitedMs: now - row.acceptedAt,
    expiresInMs: row.expiresAt - now,
    fence,
    dispatch: { ...dispatch.head },
  }
  if (row.content) claimed.content = copyJson(row.content)
  else if (row.digest) claimed.digest = digestOf(row.digest)
  if (row.concurrencyKey !== undefined) claimed.concurrencyKey = row.concurrencyKey
  if (row.deferred) claimed.deferred = true
  if (wasSending) claimed.reclaimed = true
  if (row.attemptsBefore > 0) claimed.attemptsBefore = row.attemptsBefore
  return claimed
}

export function changeOf({ deliveryId, channel, status, reason, attempts }: DeliveryRow): DeliveryChange {
  return { deliveryId, channel, status, ...(reason !== undefined && { reason }), attempts }
}

function digestOf({ key, max, recipient, events }: DigestRow): Digest {
  return {
    key,
    max,
    recipient: copyJson(recipient),
    events: events.map(({ dispatch, eventData }) => ({
      dispatchId: dispatch.head.dispatchId,
      eventData: copyJson(eventData),
    })),
  }
}

function copyAttempt(attempt: Attempt): Attempt {
  return { ...attempt }
}
