import type { DispatchHead, Route } from '../../../model/dispatch.ts'
import { isStoredWait } from '../../../model/waiting.ts'
import { URGENT } from '../../rules/claim-priority.ts'
import { currentStatus, type DeliveryRow, type DispatchRow } from '../../rules/dispatch-rows.ts'
import type { RecordOf } from '../kinds.ts'
import { indexKey } from '../stored-texts.ts'
import { begunAttempts } from './delivery-states.ts'
import { isSameJson } from './same-json.ts'

export type DispatchRecord = RecordOf<'dispatches'>
export type JobRecord = RecordOf<'jobs'>

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
    ...(record.priority === URGENT && { priority: 'urgent' as const }),
    ...(record.sandboxed && { sandboxed: true as const }),
    ...(record.locale !== null && { locale: record.locale }),
    ...(record.plugins !== null && { plugins: record.plugins.split('\n') }),
    createdAt: record.created_at,
  }
}

export function dispatchRecord({ head }: DispatchRow, version = 1): DispatchRecord {
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
    priority: head.priority ? URGENT : null,
    sandboxed: head.sandboxed ? 1 : null,
    locale: head.locale ?? null,
    plugins: head.plugins && head.plugins.length > 0 ? head.plugins.join('\n') : null,
    created_at: head.createdAt,
    version,
  }
}

export function listedRecord(dispatch: DispatchRow, status: string = currentStatus(dispatch)): RecordOf<'listed'> {
  const { tenant, createdAt, dispatchId } = dispatch.head
  return { tenant, status, created_at: createdAt, dispatch_id: dispatchId, version: 1 }
}

/** The job of a delivery that waits or is leased. */
export function jobRecord(row: DeliveryRow, version: number): JobRecord {
  return {
    delivery_id: row.deliveryId,
    dispatch_id: row.dispatch.head.dispatchId,
    tenant: row.dispatch.head.tenant,
    channel: row.channel,
    priority: row.priority,
    concurrency_key: row.concurrencyKey ?? null,
    wake_at: row.wakeAt,
    waits_for: isStoredWait(row.reason) ? row.reason : null,
    expires_at: row.expiresAt,
    fence: row.fence ?? null,
    attempt: row.attempts,
    begun: begunAttempts(row),
    version,
  }
}

export function isSameJob(one: JobRecord, other: JobRecord): boolean {
  return (Object.keys(one) as (keyof JobRecord)[]).every((name) => isSameJson(one[name], other[name]))
}
