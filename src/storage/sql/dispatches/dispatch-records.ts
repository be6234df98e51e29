import type { Attempt } from '../../../model/attempt.ts'
import type { DeliveryStatus, DispatchHead, Route } from '../../../model/dispatch.ts'
import { statusOfDispatch } from '../../../model/dispatch.ts'
import {
  type AttemptRow,
  currentStatus,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  digestKey,
  isOpenDigest,
} from '../../rules/dispatch-rows.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'

/** The record of a delivery that its dispatch no longer shares. */
export interface LeftRecord {
  readonly place: number
  readonly delivery: DeliveryRecord
  readonly event: string
}

export interface KnownDispatch {
  readonly row: DispatchRow
  /** Absent: it is new. */
  readonly record?: DispatchRecord
  readonly isWhole: boolean
}

export interface KnownDelivery {
  readonly row: DeliveryRow
  readonly record: DeliveryRecord
}

/** Characters of a long text in an index. The whole text is compared as well. */
const INDEXED = 200

export function indexKey(text: string): string {
  return text.length <= INDEXED ? text : text.slice(0, INDEXED).toWellFormed()
}

/** A foreign text without characters that databases refuse. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

export function headOf(record: DispatchRecord): DispatchHead {
  return {
    dispatchId: record.dispatch_id,
    tenant: record.tenant,
    by: record.made_by,
    eventType: record.event_type,
    recipient: record.recipient,
    ...(record.session_id !== null && { sessionId: record.session_id }),
    route: record.route as Route,
    ...(record.critical && { critical: true as const }),
    ...(record.sandboxed && { sandboxed: true as const }),
    ...(record.locale !== null && { locale: record.locale }),
    createdAt: record.created_at,
  }
}

export function dispatchRecord(dispatch: DispatchRow): DispatchRecord {
  const { head, deliveries } = dispatch
  return {
    dispatch_id: head.dispatchId,
    tenant: head.tenant,
    made_by: head.by,
    event_type: head.eventType,
    recipient: head.recipient,
    recipient_key: indexKey(head.recipient),
    session_id: head.sessionId ?? null,
    route: head.route,
    critical: head.critical ? 1 : null,
    sandboxed: head.sandboxed ? 1 : null,
    locale: head.locale ?? null,
    digested: deliveries.some(({ digest }) => digest) ? 1 : null,
    created_at: head.createdAt,
    records: null,
    ...keptStatus(dispatch),
    version: 1,
  }
}

/**
 * @param place Its place among the deliveries of its dispatch.
 * @param isKept Whether the row keeps the status of its dispatch.
 */
export function deliveryRecord(row: DeliveryRow, place: number, version: number, isKept: boolean): DeliveryRecord {
  const { digest } = row
  return {
    delivery_id: row.deliveryId,
    dispatch_id: row.dispatch.head.dispatchId,
    tenant: row.dispatch.head.tenant,
    created_at: row.dispatch.head.createdAt,
    dispatch_status: isKept ? statusInDelivery(row) : null,
    place,
    channel: row.channel,
    concurrency_key: row.concurrencyKey ?? null,
    status: row.status,
    reason: row.reason ?? null,
    attempts: row.attempts,
    attempts_before: row.attemptsBefore,
    bounced_attempt: row.bouncedAttempt ?? null,
    attempt_log: writeLog(row.attemptLog),
    accepted_at: row.acceptedAt,
    expires_at: row.expiresAt,
    wake_at: row.slot < 0 ? null : row.wakeAt,
    fence: row.fence ?? null,
    cancelled_by: row.cancelledBy?.size ? JSON.stringify([...row.cancelledBy].map(idOf)) : null,
    alone: affectsNothingElse(row) ? 1 : null,
    address: row.address ?? null,
    content: writeJson(row.content),
    digest: digest ? writeDigest(digest) : null,
    open_key: digest && isOpenDigest(row) ? indexKey(digestKey(row, digest)) : null,
    limits: writeJson(row.limits),
    deferred: row.deferred ? 1 : null,
    trace: writeJson(row.trace),
    last_code: row.lastCode === undefined ? null : storableText(row.lastCode),
    provider_message_id: row.providerMessageId === undefined ? null : storableText(row.providerMessageId),
    version,
  }
}

const COLUMNS = Object.keys(TABLES.deliveries.columns) as (keyof DeliveryRecord)[]
const FIXED = COLUMNS.filter((name) => TABLES.deliveries.columns[name].fixed)

/**
 * How a delivery is written; `undefined`: not at all. No update writes the columns of `replace`: the delivery was replanned or erased, and its
 * row is removed and inserted.
 */
export function changeOfRecord(before: DeliveryRecord, after: DeliveryRecord): 'update' | 'replace' | undefined {
  const differs = (name: keyof DeliveryRecord): boolean => before[name] !== after[name]
  if (FIXED.some(differs) || (before.content !== null && after.content === null)) return 'replace'
  return COLUMNS.some(differs) ? 'update' : undefined
}

/** @param dispatchOf Returns the dispatches that requested cancellation. */
export function deliveryRow(
  record: DeliveryRecord,
  dispatch: DispatchRow,
  events: DigestEvent[],
  dispatchOf: (dispatchId: string) => DispatchRow | undefined,
): DeliveryRow {
  return {
    deliveryId: record.delivery_id,
    channel: record.channel,
    concurrencyKey: record.concurrency_key ?? undefined,
    wakeAt: record.wake_at ?? 0,
    slot: record.wake_at === null ? -1 : 0,
    dispatch,
    status: record.status as DeliveryStatus,
    reason: (record.reason as DeliveryRow['reason'] | null) ?? undefined,
    attempts: record.attempts,
    attemptsBefore: record.attempts_before,
    bouncedAttempt: record.bounced_attempt ?? undefined,
    attemptLog: readLog(record.attempt_log),
    acceptedAt: record.accepted_at,
    expiresAt: record.expires_at,
    fence: record.fence ?? undefined,
    cancelledBy: readOwners(record.cancelled_by, dispatchOf),
    address: record.address ?? undefined,
    content: readJson(record.content),
    digest: readDigest(record.digest, events),
    limits: readJson(record.limits),
    deferred: record.deferred ? true : undefined,
    trace: readJson(record.trace),
    lastCode: record.last_code ?? undefined,
    providerMessageId: record.provider_message_id ?? undefined,
  }
}

function affectsNothingElse(row: DeliveryRow): boolean {
  if (row.digest || row.cancelledBy?.size) return false
  return row.dispatch.deliveries.every((other) => other === row || other.status !== 'held')
}

function readOwners(
  written: string | null,
  dispatchOf: (dispatchId: string) => DispatchRow | undefined,
): Set<DispatchRow> | undefined {
  if (written === null) return undefined
  const ids: readonly string[] = JSON.parse(written)
  return new Set(ids.flatMap((dispatchId) => dispatchOf(dispatchId) ?? []))
}

function idOf({ head }: DispatchRow): string {
  return head.dispatchId
}

function writeDigest({ key, max, recipient, opened }: DigestRow): string {
  return JSON.stringify({ key, max, recipient, opened })
}

function readDigest(written: string | null, events: DigestEvent[]): DigestRow | undefined {
  return written === null ? undefined : { ...JSON.parse(written), events }
}

/** An object per attempt, each followed by a comma, so that a claim can append to it in SQL. */
function writeLog(log: readonly Attempt[] | undefined): string {
  return log && log.length > 0 ? `${JSON.stringify(log).slice(1, -1)},` : ''
}

function readLog(written: string): AttemptRow[] | undefined {
  return written === '' ? undefined : JSON.parse(`[${written.slice(0, -1)}]`)
}

export function writeJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

export function readJson<T>(written: string | null): T | undefined {
  return written === null ? undefined : JSON.parse(written)
}

/** Deliveries of a dispatch by kind. Skipped ones do not count. */
export interface DispatchCounts {
  readonly open_count: number
  readonly sent_count: number
  readonly lost_count: number
  readonly cancelled_count: number
}

type Kept = Pick<DispatchRecord, 'status' | keyof DispatchCounts>

const COUNTED_AS: Readonly<Record<DeliveryStatus, keyof DispatchCounts | undefined>> = {
  queued: 'open_count',
  sending: 'open_count',
  held: 'open_count',
  sent: 'sent_count',
  failed: 'lost_count',
  expired: 'lost_count',
  cancelled: 'cancelled_count',
  skipped: undefined,
}

const NONE: DispatchCounts = { open_count: 0, sent_count: 0, lost_count: 0, cancelled_count: 0 }
const IN_DELIVERY: Kept = { status: null, open_count: null, sent_count: null, lost_count: null, cancelled_count: null }

/** Whether a delivery keeps the status of its dispatch: it is the only one, and no digest. */
export function isKeptInDelivery({ deliveries }: DispatchRow): boolean {
  return deliveries.length === 1 && deliveries[0]?.digest === undefined
}

/** Status and counts in the row of a dispatch. All its deliveries must be loaded. */
export function keptStatus(dispatch: DispatchRow): Kept {
  if (isKeptInDelivery(dispatch)) return IN_DELIVERY
  let counts = NONE
  for (const { status } of dispatch.deliveries) counts = countsAfter(counts, status, 1)
  return { status: currentStatus(dispatch), ...counts }
}

function statusInDelivery({ status, dispatch }: DeliveryRow): string {
  return statusOfDispatch([status], dispatch.head.route)
}

/** The counts of a dispatch after a delivery changed its status; `undefined`: no change. */
export function addedCounts(
  before: DeliveryStatus,
  after: DeliveryStatus,
  counts: DispatchCounts = NONE,
): DispatchCounts | undefined {
  if (COUNTED_AS[before] === COUNTED_AS[after]) return undefined
  return countsAfter(countsAfter(counts, before, -1), after, 1)
}

function countsAfter(counts: DispatchCounts, status: DeliveryStatus, by: 1 | -1): DispatchCounts {
  const name = COUNTED_AS[status]
  return name === undefined ? counts : { ...counts, [name]: counts[name] + by }
}

/**
 * `statusOfDispatch` as SQL, after counts are added.
 * @param row The alias of the dispatch.
 * @param added The alias of the added counts.
 */
export function statusText(row: string, added: string): string {
  const has = (count: keyof DispatchCounts): string => `${row}.${count} + ${added}.${count} > 0`
  return `case
    when ${has('lost_count')} and ${row}.route = 'all' and (${has('open_count')} or ${has('sent_count')}) then 'partial'
    when ${has('open_count')} then 'queued'
    when ${has('sent_count')} then 'sent'
    when ${has('lost_count')} then 'failed'
    when ${has('cancelled_count')} then 'cancelled'
    else 'skipped' end`
}
