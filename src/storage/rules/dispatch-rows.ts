import type {
  Attempt,
  AttemptEnd,
  ConditionTrace,
  Content,
  DeliveryReason,
  DeliveryStatus,
  Digest,
  DispatchHead,
  DispatchStatus,
} from '../../model/dispatch.ts'
import { statusOfDispatch } from '../../model/dispatch.ts'
import type { JsonObject } from '../../model/json.ts'
import { copyJson } from '../../model/json.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { NewDelivery, NewDispatch } from '../../ports/dispatch-store.ts'
import type { PlanSource } from '../../ports/plan-source.ts'
import { compoundKey } from './compound-key.ts'

/** A dispatch, while a store works on it. Of a delivery that joined a digest it has the row of that one. */
export interface DispatchRow {
  readonly head: DispatchHead
  /** Where it stands in the order in which its store took dispatches in. */
  place: number
  /** The status that its store lists it under; absent: it is in no list. */
  listed?: DispatchStatus | undefined
  deliveries: DeliveryRow[]
  /** Absent unless a delivery of it failed in host code. */
  plan: PlanRow | undefined
}

/** What a dispatch is planned from again. */
export interface PlanRow {
  readonly source: PlanSource
  /** 1, and one more with every replan. */
  readonly version: number
}

/** A delivery, while a store works on it. */
export interface DeliveryRow {
  readonly deliveryId: string
  readonly channel: string
  readonly concurrencyKey: string | undefined
  /** When it is due while it is `queued`, and when its lease ends while it is `sending`. */
  wakeAt: number
  /** Where it waits for that, as its store has it; -1: nowhere. */
  slot: number
  /** Whose it is; of a digest: whose its oldest event is. */
  dispatch: DispatchRow
  status: DeliveryStatus
  reason: DeliveryReason | undefined
  attempts: number
  /** Those of the attempts that came before the last retry. */
  attemptsBefore: number
  /** Absent before the first. */
  attemptLog: AttemptRow[] | undefined
  readonly acceptedAt: number
  /** When it is no longer worth sending. */
  expiresAt: number
  fence: string | undefined
  /** Those of its dispatches that asked for its end when it could not be had yet. */
  cancelledBy: Set<DispatchRow> | undefined
  readonly address: string | undefined
  content: Content | undefined
  readonly digest: DigestRow | undefined
  /** Until they are counted. */
  limits: readonly SendLimit[] | undefined
  readonly deferred: true | undefined
  readonly trace: readonly ConditionTrace[] | undefined
  lastCode: string | undefined
  providerMessageId: string | undefined
}

/** A digest, while a store works on it. */
export interface DigestRow extends Omit<Digest, 'events'> {
  /** In which order it was first open; 0: it has not been. */
  opened: number
  /** Oldest first, and never none. */
  events: DigestEvent[]
}

/** One event of a digest, and whose it is. */
export interface DigestEvent {
  readonly dispatch: DispatchRow
  readonly eventData: JsonObject
}

/** An attempt, while a store works on it. */
export type AttemptRow = { -readonly [K in keyof Attempt]: Attempt[K] }

/**
 * The rows of a new dispatch, which share nothing with it; they stand nowhere yet.
 *
 * @param now By the store's clock: what the host believes the time to be is not asked.
 */
export function dispatchRow(
  { deliveries, source, ...rest }: NewDispatch,
  expiresInMs: number,
  now: number,
): DispatchRow {
  const head: DispatchHead = Object.assign(rest, { createdAt: now })
  const plan = source && { source: copyJson(source), version: 1 }
  const dispatch: DispatchRow = { head, place: 0, listed: undefined, deliveries: [], plan }
  dispatch.deliveries = deliveryRows(deliveries, dispatch, expiresInMs, now)
  return dispatch
}

/** The rows of new deliveries of a dispatch; they stand nowhere yet. */
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
  {
    deliveryId,
    channel,
    concurrencyKey,
    status,
    reason,
    address,
    content,
    digest,
    limits,
    deferred,
    trace,
  }: NewDelivery,
  dispatch: DispatchRow,
  acceptedAt: number,
  wakeAt: number,
  expiresAt: number,
): DeliveryRow {
  return {
    deliveryId,
    channel,
    concurrencyKey,
    wakeAt,
    slot: -1,
    dispatch,
    status,
    reason,
    attempts: 0,
    attemptsBefore: 0,
    attemptLog: undefined,
    acceptedAt,
    expiresAt,
    fence: undefined,
    cancelledBy: undefined,
    address,
    content: copyJson(content),
    digest: digest && {
      key: digest.key,
      max: digest.max,
      recipient: copyJson(digest.recipient),
      opened: 0,
      events: [{ dispatch, eventData: copyJson(digest.eventData) }],
    },
    limits: copyJson(limits),
    deferred,
    trace: copyJson(trace),
    lastCode: undefined,
    providerMessageId: undefined,
  }
}

/** The dispatches that a delivery belongs to. */
export function ownersOf({ digest, dispatch }: DeliveryRow): Iterable<DispatchRow> {
  return digest ? new Set(digest.events.map((event) => event.dispatch)) : [dispatch]
}

/** The status of a dispatch, from its deliveries as they are now. */
export function currentStatus({ head, deliveries }: DispatchRow): DispatchStatus {
  return statusOfDispatch(
    deliveries.map(({ status }) => status),
    head.route,
  )
}

/** All that a digest is gathered by. With the address: what was resolved to one is not sent to another. */
export function digestKey({ dispatch: { head }, channel, address = '' }: DeliveryRow, { key }: DigestRow): string {
  return compoundKey(head.tenant, channel, key, head.eventType, head.recipient, address)
}

/** Whether an event may join it, once it is not due yet. */
export function isOpenDigest({ status, content, digest }: DeliveryRow): boolean {
  return digest !== undefined && status === 'queued' && !content && digest.events.length < digest.max
}

/** How many attempts that have ended are kept. */
const KEPT = 50

/** Counts an attempt and writes it down as under way. */
export function beginAttempt(row: DeliveryRow, startedAt: number): void {
  row.attempts += 1
  const begun: AttemptRow = { attempt: row.attempts, startedAt }
  if (!row.attemptLog) row.attemptLog = [begun]
  else if (row.attemptLog.push(begun) > KEPT + 1) row.attemptLog.shift()
}

/** Writes down how the attempt that is under way ended: never before it began. */
export function endAttempt(row: DeliveryRow, end: AttemptEnd, endedAt: number): void {
  const { outcome, code, provider, providerMessageId } = end
  const attempt = row.attemptLog?.at(-1)
  if (!row.attemptLog || !attempt) return
  attempt.endedAt = Math.max(endedAt, attempt.startedAt)
  attempt.outcome = outcome
  if (code !== undefined) attempt.code = row.lastCode = code
  if (provider !== undefined) attempt.provider = provider
  if (providerMessageId !== undefined) attempt.providerMessageId = providerMessageId
  if (row.attemptLog.length > KEPT) row.attemptLog.shift()
}

/** As if it had not begun. */
export function takeBackAttempt(row: DeliveryRow): void {
  row.attempts -= 1
  row.attemptLog?.pop()
}
