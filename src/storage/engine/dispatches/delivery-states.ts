import type { Attempt } from '../../../model/attempt.ts'
import type { Content } from '../../../model/dispatch.ts'
import { isStoredWait, type StoredWait } from '../../../model/waiting.ts'
import { type ClaimPriority, claimPriority } from '../../rules/claim-priority.ts'
import type { AttemptRow, DeliveryRow, DigestEvent, DigestRow, DispatchRow } from '../../rules/dispatch-rows.ts'
import { decoded } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { storableText } from '../stored-texts.ts'
import { damagedDigest, damagedEntries, type ToldOutcome } from './damaged-states.ts'
import type { StoredDelivery, StoredDigest, StoredEntry } from './stored-deliveries.ts'

/** A state with what was read from its body. Nothing changes the entries. */
export interface KnownState {
  readonly record: RecordOf<'states'>
  readonly entries: readonly StoredEntry[]
  /** Its body cannot be read: the entries are what other records tell. */
  readonly isDamaged?: true
}

export function readState(record: RecordOf<'states'>): KnownState {
  const entries = decoded(record.body)
  return entries ? { record, entries } : { record, entries: damagedEntries(record), isDamaged: true }
}

/** @param tellOf What its dispatches tell of a digest that cannot be read. */
export function readDigest(
  { delivery_id, body, joined }: RecordOf<'digests'>,
  tellOf: (deliveryId: string) => ToldOutcome,
): StoredDelivery {
  return decoded(body) ?? damagedDigest(delivery_id, joined, tellOf(delivery_id))
}

export function readContent(record: RecordOf<'contents'> | undefined): Content | undefined {
  return record && record.body !== null ? (decoded(record.body) ?? NOT_READ) : undefined
}

/** The content of a delivery that has one, where it was not read or cannot be. */
const NOT_READ: Content = Object.freeze({})

/** Records of a delivery besides its state. */
export interface DeliveryParts {
  readonly dispatch: DispatchRow
  /** Absent: there is none, or it was not read. */
  readonly job?: RecordOf<'jobs'> | undefined
  readonly content?: Content | undefined
  /** The events of a digest. */
  readonly events?: DigestEvent[] | undefined
  /** Returns the dispatches that requested cancellation. */
  readonly dispatchOf: (dispatchId: string) => DispatchRow | undefined
}

export function deliveryRow(stored: StoredDelivery, parts: DeliveryParts): DeliveryRow {
  const { job, dispatch, dispatchOf, events } = parts
  const { log, cancelledBy, digest, isDamaged } = stored
  const begun = job && decoded(job.begun)
  return {
    deliveryId: stored.deliveryId,
    channel: stored.channel,
    priority: (job?.priority as ClaimPriority | undefined) ?? claimPriority(dispatch.head),
    concurrencyKey: isDamaged ? (job?.concurrency_key ?? undefined) : stored.concurrencyKey,
    wakeAt: job?.wake_at ?? 0,
    slot: job ? 0 : -1,
    dispatch,
    status: job ? (job.fence === null ? 'queued' : 'sending') : stored.status,
    reason: job ? ((job.waits_for as StoredWait | null) ?? undefined) : stored.reason,
    attempts: job?.attempt ?? stored.attempts ?? 0,
    attemptsBefore: stored.attemptsBefore ?? 0,
    bouncedAttempt: stored.bouncedAttempt,
    attemptLog: log || begun?.length ? [...(log ?? []), ...copies(begun ?? NO_ATTEMPTS)] : undefined,
    acceptedAt: stored.acceptedAt,
    expiresAt: job?.expires_at ?? stored.expiresAt,
    fence: job?.fence ?? undefined,
    cancelledBy: cancelledBy && new Set(cancelledBy.flatMap((dispatchId) => dispatchOf(dispatchId) ?? [])),
    address: stored.address,
    content: stored.hasContent ? (parts.content ?? NOT_READ) : isDamaged && parts.content,
    digest: digest && digestRow(digest, dispatch, events),
    limits: stored.limits,
    deferred: stored.deferred,
    trace: stored.trace,
    lastCode: stored.lastCode,
    providerMessageId: stored.providerMessageId,
    ...(isDamaged && { isDamaged }),
  }
}

function digestRow({ eventData, ...digest }: StoredDigest, dispatch: DispatchRow, events?: DigestEvent[]): DigestRow {
  return { ...digest, events: events ?? [{ dispatch, eventData: eventData ?? {} }] }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * The state of a delivery. Members are always set in this order, so that an unchanged delivery has an unchanged text, and those that an
 * attempt changes precede the others; one by one, because conditional spreads are slower, and this runs for every settlement.
 * @param isApart Its dispatch no longer shares it: the state has its own event. Default: false.
 */
export function storedDelivery(row: DeliveryRow, isApart = false): StoredDelivery {
  const { deliveryId, channel, reason, attemptLog = [], cancelledBy, acceptedAt, expiresAt } = row
  const begun = begunAttempts(row).length
  const attempts = row.attempts - begun
  const status = row.status === 'sending' ? 'queued' : row.status
  const stored: Partial<Mutable<StoredDelivery>> = { deliveryId, status }
  if (reason !== undefined && !(status === 'queued' && isStoredWait(reason))) stored.reason = reason
  if (attempts > 0) stored.attempts = attempts
  if (row.attemptsBefore > 0) stored.attemptsBefore = row.attemptsBefore
  if (row.bouncedAttempt !== undefined) stored.bouncedAttempt = row.bouncedAttempt
  if (attemptLog.length > begun) stored.log = begun === 0 ? attemptLog : attemptLog.slice(0, -begun)
  if (row.lastCode !== undefined) stored.lastCode = storableText(row.lastCode)
  if (row.providerMessageId !== undefined) stored.providerMessageId = storableText(row.providerMessageId)
  if (cancelledBy?.size) stored.cancelledBy = [...cancelledBy].map(({ head }) => head.dispatchId)
  stored.channel = channel
  stored.acceptedAt = acceptedAt
  stored.expiresAt = expiresAt
  if (row.concurrencyKey !== undefined) stored.concurrencyKey = row.concurrencyKey
  if (row.address !== undefined) stored.address = row.address
  if (row.content) stored.hasContent = true
  if (row.limits) stored.limits = row.limits
  if (row.deferred) stored.deferred = true
  if (row.trace) stored.trace = row.trace
  if (row.digest) stored.digest = storedDigest(row.digest, isApart)
  return stored as StoredDelivery
}

const NO_ATTEMPTS: readonly Attempt[] = []

function storedDigest({ key, max, recipient, opened, size, events }: DigestRow, isApart: boolean): StoredDigest {
  const eventData = isApart ? events[0]?.eventData : undefined
  return { key, max, recipient, opened, size, ...(eventData && { eventData }) }
}

/** The last attempts of a delivery that waits or is leased: no settlement has recorded them. */
export function begunAttempts({ slot, attemptLog }: DeliveryRow): readonly Attempt[] {
  if (slot < 0 || !attemptLog) return NO_ATTEMPTS
  const ended = attemptLog.findLastIndex(({ outcome }) => outcome !== undefined)
  return attemptLog.slice(ended + 1)
}

/** Attempts that the rules may end. */
function copies(attempts: readonly Attempt[]): AttemptRow[] {
  return attempts.map((attempt) => ({ ...attempt }))
}
