import type { Attempt, AttemptEnd } from '../../model/attempt.ts'
import type {
  ConditionTrace,
  Content,
  Delivery,
  DeliveryReason,
  DeliveryStatus,
  Digest,
  Dispatch,
  DispatchHead,
  DispatchStatus,
} from '../../model/dispatch.ts'
import { statusOfDispatch } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../model/dispatch-results.ts'
import { copyJson, type JsonObject } from '../../model/json.ts'
import { isStoredWait, type StoredWait } from '../../model/waiting.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { ClaimedDelivery, NewDelivery, NewDispatch } from '../../ports/dispatch-store.ts'
import type { PlanSource } from '../../ports/plan-source.ts'
import { type ClaimPriority, claimPriority } from './claim-priority.ts'

/** A dispatch in memory. The delivery rules change it. */
export interface DispatchRow {
  readonly head: DispatchHead
  /** Order of acceptance within a store; 0 if the store does not need it. */
  sequence: number
  /** Status under which its store lists it; absent: not listed. */
  listed?: DispatchStatus | undefined
  /** A delivery that joined a digest is replaced by the delivery of that digest, which several dispatches share. */
  deliveries: DeliveryRow[]
  /** Present if a delivery failed in host code. */
  plan: PlanRow | undefined
}

/** Input for planning a dispatch again. */
export interface PlanRow {
  readonly source: PlanSource
  /** Starts at 1. Each replan adds 1. */
  readonly version: number
}

/** A delivery in memory. The delivery rules change it. */
export interface DeliveryRow {
  readonly deliveryId: string
  readonly channel: string
  /** That of the dispatch which created it: a digest keeps the priority of its first event. */
  readonly priority: ClaimPriority
  readonly concurrencyKey: string | undefined
  /** Due time while `queued`; end of the lease while `sending`. */
  wakeAt: number
  /** At least 0 while the delivery waits for `wakeAt`, otherwise -1. The store may order by it. */
  slot: number
  /** Its dispatch. For a digest: the dispatch of the oldest event. */
  dispatch: DispatchRow
  status: DeliveryStatus
  /** While `queued`: what it waits for, if its store keeps that. */
  reason: DeliveryReason | StoredWait | undefined
  attempts: number
  /** Number of attempts before the last retry. */
  attemptsBefore: number
  /** The attempt that was under way when its bounce was reported. */
  bouncedAttempt: number | undefined
  /** Absent before the first attempt. */
  attemptLog: AttemptRow[] | undefined
  readonly acceptedAt: number
  expiresAt: number
  /** Fencing token of the current lease. */
  fence: string | undefined
  /** Dispatches that requested cancellation while the delivery could not be cancelled. */
  cancelledBy: Set<DispatchRow> | undefined
  readonly address: string | undefined
  content: Content | undefined
  readonly digest: DigestRow | undefined
  /** Limits that are not counted yet. */
  limits: readonly SendLimit[] | undefined
  readonly deferred: true | undefined
  readonly trace: readonly ConditionTrace[] | undefined
  lastCode: string | undefined
  providerMessageId: string | undefined
  /** Its stored state cannot be read: this row has what its job and the outcomes of its dispatch tell. It has no address. */
  readonly isDamaged?: true
}

/** A digest in memory. The delivery rules change it. */
export interface DigestRow extends Omit<Digest, 'events'> {
  /** When it first opened; 0: not open yet. */
  opened: number
  /** Number of its events, at least one. */
  size: number
  /** Oldest first. A store that lets events join reads none of the others. */
  events: DigestEvent[]
}

/** One event of a digest, with its dispatch. */
export interface DigestEvent {
  readonly dispatch: DispatchRow
  readonly eventData: JsonObject
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** An attempt in memory. */
export type AttemptRow = { -readonly [K in keyof Attempt]: Attempt[K] }

/**
 * Rows of a new dispatch. They share no objects with it.
 * @param now The store's clock, not the host's.
 */
export function dispatchRow(
  { deliveries, source, ...rest }: NewDispatch,
  expiresInMs: number,
  now: number,
): DispatchRow {
  const head: DispatchHead = Object.assign(rest, { createdAt: now })
  const plan = source && { source: copyJson(source), version: 1 }
  const dispatch: DispatchRow = { head, sequence: 0, listed: undefined, deliveries: [], plan }
  dispatch.deliveries = deliveryRows(deliveries, dispatch, expiresInMs, now)
  return dispatch
}

/** Rows of new deliveries. A held delivery counts its expiry from the latest due time of the queued ones. */
export function deliveryRows(
  deliveries: readonly NewDelivery[],
  dispatch: DispatchRow,
  expiresInMs: number,
  now: number,
): DeliveryRow[] {
  let heldMs = 0
  for (const { status, delayMs = 0 } of deliveries) if (status === 'queued') heldMs = Math.max(heldMs, delayMs)
  return deliveries.map((delivery) => {
    const dueAt = now + (delivery.status === 'queued' ? (delivery.delayMs ?? 0) : heldMs)
    return deliveryRow(delivery, dispatch, now, dueAt, dueAt + expiresInMs)
  })
}

function deliveryRow(
  delivery: NewDelivery,
  dispatch: DispatchRow,
  acceptedAt: number,
  wakeAt: number,
  expiresAt: number,
): DeliveryRow {
  const { digest } = delivery
  return {
    deliveryId: delivery.deliveryId,
    channel: delivery.channel,
    priority: claimPriority(dispatch.head),
    concurrencyKey: delivery.concurrencyKey,
    wakeAt,
    slot: -1,
    dispatch,
    status: delivery.status,
    reason: delivery.reason ?? delivery.waitsFor,
    attempts: 0,
    attemptsBefore: 0,
    bouncedAttempt: undefined,
    attemptLog: undefined,
    acceptedAt,
    expiresAt,
    fence: undefined,
    cancelledBy: undefined,
    address: delivery.address,
    content: copyJson(delivery.content),
    digest: digest && {
      key: digest.key,
      max: digest.max,
      recipient: copyJson(digest.recipient),
      opened: 0,
      size: 1,
      events: [{ dispatch, eventData: copyJson(digest.eventData) }],
    },
    limits: copyJson(delivery.limits),
    deferred: delivery.deferred,
    trace: copyJson(delivery.trace),
    lastCode: undefined,
    providerMessageId: undefined,
  }
}

/** The dispatches that share a delivery. */
export function ownersOf({ digest, dispatch }: DeliveryRow): Iterable<DispatchRow> {
  return digest ? new Set(digest.events.map((event) => event.dispatch)) : [dispatch]
}

export function currentStatus({ head, deliveries }: DispatchRow): DispatchStatus {
  return statusOfDispatch(
    deliveries.map(({ status }) => status),
    head.route,
  )
}

/** Ended attempts kept per delivery. */
const MAX_ATTEMPTS_KEPT = 50

/** Counts and records an attempt that starts now. */
export function beginAttempt(row: DeliveryRow, startedAt: number): void {
  row.attempts += 1
  const begun: AttemptRow = { attempt: row.attempts, startedAt }
  if (!row.attemptLog) row.attemptLog = [begun]
  else if (row.attemptLog.push(begun) > MAX_ATTEMPTS_KEPT + 1) row.attemptLog.shift()
}

/** Records the end of the current attempt, never before its start. */
export function endAttempt(row: DeliveryRow, end: AttemptEnd, endedAt: number): void {
  const { outcome, code, provider, providers, providerMessageId, enhancedStatus, omittedCopies } = end
  const attempt = row.attemptLog?.at(-1)
  if (!row.attemptLog || !attempt) return
  attempt.endedAt = Math.max(endedAt, attempt.startedAt)
  attempt.outcome = outcome
  if (code !== undefined) attempt.code = row.lastCode = code
  if (provider !== undefined) attempt.provider = provider
  if (providers) attempt.providers = copyJson(providers)
  if (providerMessageId !== undefined) attempt.providerMessageId = providerMessageId
  if (enhancedStatus !== undefined) attempt.enhancedStatus = enhancedStatus
  if (omittedCopies !== undefined) attempt.omittedCopies = omittedCopies
  row.attemptLog.splice(0, Math.max(0, row.attemptLog.length - MAX_ATTEMPTS_KEPT))
}

export function takeBackAttempt(row: DeliveryRow): void {
  row.attempts -= 1
  row.attemptLog?.pop()
}

/** A copy of a dispatch for the host. */
export function readDispatch({ head, deliveries }: DispatchRow): Dispatch {
  return { deliveries: deliveries.map(readDelivery), ...head }
}

/** Sets optional members one by one: conditional spreads are slower, and this runs for every delivery. */
function readDelivery(row: DeliveryRow): Delivery {
  const { deliveryId, channel, status, attempts } = row
  const attemptLog = row.attemptLog?.map(copyAttempt) ?? []
  const delivery: Mutable<Delivery> = { deliveryId, channel, status, attempts, attemptLog }
  if (isStoredWait(row.reason)) delivery.waitsFor = row.reason
  else if (row.reason !== undefined) delivery.reason = row.reason
  else if (row.isDamaged) delivery.reason = 'record_unreadable'
  if (status === 'queued') delivery.dueAt = row.wakeAt
  if (row.deferred) delivery.deferred = true
  if (row.concurrencyKey !== undefined) delivery.concurrencyKey = row.concurrencyKey
  if (row.lastCode !== undefined) delivery.lastCode = row.lastCode
  if (row.providerMessageId !== undefined) delivery.providerMessageId = row.providerMessageId
  if (row.trace) delivery.trace = copyJson(row.trace)
  if (row.address !== undefined) delivery.address = row.address
  if (row.content) delivery.content = copyJson(row.content)
  if (row.digest) delivery.eventCount = row.digest.size
  return delivery
}

/**
 * A newly leased delivery for its worker.
 * @param wasSending The previous lease expired without a settlement.
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
  else if (row.digest) claimed.digest = readDigest(row.digest)
  if (row.concurrencyKey !== undefined) claimed.concurrencyKey = row.concurrencyKey
  if (row.deferred) claimed.deferred = true
  if (wasSending) claimed.reclaimed = true
  if (row.attemptsBefore > 0) claimed.attemptsBefore = row.attemptsBefore
  return claimed
}

export function changeOf({ deliveryId, channel, status, reason, attempts }: DeliveryRow): DeliveryChange {
  return { deliveryId, channel, status, ...(reason !== undefined && !isStoredWait(reason) && { reason }), attempts }
}

function readDigest({ key, max, recipient, events }: DigestRow): Digest {
  const readEvent = ({ dispatch: { head }, eventData }: DigestEvent): Digest['events'][number] => ({
    dispatchId: head.dispatchId,
    eventData: copyJson(eventData),
  })
  return { key, max, recipient: copyJson(recipient), events: events.map(readEvent) }
}

function copyAttempt(attempt: Attempt): Attempt {
  return attempt.providers ? { ...attempt, providers: copyJson(attempt.providers) } : { ...attempt }
}
