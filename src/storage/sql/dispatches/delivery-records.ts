import type { Attempt, DeliveryReason, DeliveryStatus, DispatchHead, Route } from '../../../model/dispatch.ts'
import {
  type AttemptRow,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  digestKey,
  isOpenDigest,
} from '../../rules/dispatch-rows.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'
import { keptStatus, statusInDelivery } from './dispatch-status.ts'

/** So much of a long text is looked for by an index; the rest is compared. */
const INDEXED = 200

/** How a text begins, for an index. */
export function indexKey(text: string): string {
  return text.length <= INDEXED ? text : text.slice(0, INDEXED).toWellFormed()
}

/** A text of somebody else's, without what databases refuse. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

export function headOf(record: DispatchRecord): DispatchHead {
  return {
    dispatchId: record.dispatch_id,
    tenant: record.tenant,
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
 * A delivery that stands at that place among those of its dispatch.
 *
 * @param isKept Whether it keeps the status of its dispatch.
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
    attempt_log: writeLog(row.attemptLog),
    accepted_at: row.acceptedAt,
    expires_at: row.expiresAt,
    wake_at: row.slot < 0 ? null : row.wakeAt,
    fence: row.fence ?? null,
    cancelled_by: row.cancelledBy?.size
      ? JSON.stringify([...row.cancelledBy].map(({ head }) => head.dispatchId))
      : null,
    alone: isAlone(row) ? 1 : null,
    address: row.address ?? null,
    content: writeJson(row.content),
    digest: digest
      ? JSON.stringify({ key: digest.key, max: digest.max, recipient: digest.recipient, opened: digest.opened })
      : null,
    open_key: digest && isOpenDigest(row) ? indexKey(digestKey(row, digest)) : null,
    limits: writeJson(row.limits),
    deferred: row.deferred ? 1 : null,
    trace: writeJson(row.trace),
    last_code: row.lastCode === undefined ? null : storableText(row.lastCode),
    provider_message_id: row.providerMessageId === undefined ? null : storableText(row.providerMessageId),
    version,
  }
}

/** @param dispatchOf The dispatch by that id: those that asked for the delivery's end. */
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
    reason: (record.reason as DeliveryReason | null) ?? undefined,
    attempts: record.attempts,
    attemptsBefore: record.attempts_before,
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

function isAlone(row: DeliveryRow): boolean {
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

function readDigest(written: string | null, events: DigestEvent[]): DigestRow | undefined {
  return written === null ? undefined : { ...JSON.parse(written), events }
}

/** As a claim can add to it by putting more behind it: an object for each attempt, and a comma after each. */
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
