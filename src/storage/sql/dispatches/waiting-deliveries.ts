import type { Dialect } from '../connection/dialects.ts'
import { tableAlong } from '../connection/look-ups.ts'
import type { NameTable } from '../schema/name-table.ts'

/** Deliveries `d` in the order of an index, by an instant. */
export interface WaitingDeliveries {
  readonly table: string
  /** The short name of the index. */
  readonly index: string
  /** The instant, which the statement is to compare and to order by. */
  readonly at: string
  readonly condition: string
}

/** What of a channel is queued, by when it is due, or is leased, by when its lease ends. The statement is to name the channel. */
export function byWakeTime(status: 'queued' | 'sending', dialect: Dialect, nameOf: NameTable): WaitingDeliveries {
  const derived = status === 'queued' ? { index: 'queued', at: 'queued_at' } : { index: 'leased', at: 'leased_until' }
  return alongIndex(dialect.partialIndexes ? { index: 'due', at: 'wake_at' } : derived, status, dialect, nameOf)
}

/** What is queued or leased, by its expiry. */
export function byExpiry(status: 'queued' | 'sending', dialect: Dialect, nameOf: NameTable): WaitingDeliveries {
  const at = dialect.partialIndexes ? 'expires_at' : 'expiring_at'
  return alongIndex({ index: 'expiring', at }, status, dialect, nameOf)
}

function alongIndex(
  { index, at }: { readonly index: string; readonly at: string },
  status: string,
  dialect: Dialect,
  nameOf: NameTable,
): WaitingDeliveries {
  const table = tableAlong({ table: 'deliveries', alias: 'd', index }, dialect, nameOf)
  return { table, index, at: `d.${at}`, condition: `d.status = '${status}'` }
}
