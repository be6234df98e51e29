import type { Attempt, Delivery, Digest, Dispatch } from '../model/dispatch.ts'
import type { ClaimedDelivery, DeliveryChange } from '../ports/dispatch-store.ts'
import { copyJson } from './copy-json.ts'
import type { DeliveryRow, DigestRow, DispatchRow } from './dispatch-rows.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Copy = <T>(value: T) => T

/** A dispatch as it is stored, which shares nothing with what is stored. */
export function readDispatch(row: DispatchRow): Dispatch {
  return dispatchOf(row, copyJson)
}

/** The same, but for the events of digests, which are frozen and shared: joining one costs no copy of all that are in it. */
export function glanceAt(row: DispatchRow): Dispatch {
  return dispatchOf(row, (frozen) => frozen)
}

function dispatchOf({ head, deliveries }: DispatchRow, copy: Copy): Dispatch {
  return { deliveries: deliveries.map((row) => deliveryOf(row, copy)), ...head }
}

/** Members are set one by one here: it runs for every delivery, and spreading what may be absent costs several times as much. */
function deliveryOf(row: DeliveryRow, copy: Copy): Delivery {
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
  if (row.digest) delivery.digest = digestOf(row.digest, copy)
  return delivery
}

/** What a worker gets of a delivery that it has just leased. */
export function claimedDelivery(row: DeliveryRow, fence: string, now: number): ClaimedDelivery {
  const { deliveryId, channel, address = '', attempts, attemptLog, dispatch } = row
  const claimed: Mutable<ClaimedDelivery> = {
    deliveryId,
    channel,
    address,
    attempts,
    history: attemptLog?.slice(0, -1).map(copyAttempt) ?? [],
    expiresInMs: row.expiresAt - now,
    fence,
    dispatch: { ...dispatch.head },
  }
  if (row.content) claimed.content = copyJson(row.content)
  if (row.digest) claimed.digest = digestOf(row.digest, copyJson)
  if (row.concurrencyKey !== undefined) claimed.concurrencyKey = row.concurrencyKey
  if (row.deferred) claimed.deferred = true
  if (row.attemptsBefore > 0) claimed.attemptsBefore = row.attemptsBefore
  return claimed
}

export function changeOf({ deliveryId, channel, status, reason, attempts }: DeliveryRow): DeliveryChange {
  return { deliveryId, channel, status, ...(reason !== undefined && { reason }), attempts }
}

function digestOf({ key, max, recipient, events }: DigestRow, copy: Copy): Digest {
  return {
    key,
    max,
    recipient: copy(recipient),
    events: events.map(({ dispatch, eventData }) => ({
      dispatchId: dispatch.head.dispatchId,
      eventData: copy(eventData),
    })),
  }
}

function copyAttempt(attempt: Attempt): Attempt {
  return { ...attempt }
}
