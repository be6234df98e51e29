import type { DispatchHead, DispatchStatus } from '../../../model/dispatch.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, type LookUp, lookUp } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import type { Column } from '../schema/columns.ts'
import type { CounterRecord, Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { TenantName } from './counters.ts'

export type Row = Readonly<Record<string, unknown>>

type Columns = Readonly<Record<string, Column>>

/** Columns of the rows that look-ups begin with. */
export const DISPATCH_ID: Columns = { dispatch_id: TABLES.dispatches.columns.dispatch_id }
export const DELIVERY_ID: Columns = { delivery_id: TABLES.jobs.columns.delivery_id }

export function dispatchIds(ids: readonly string[]): readonly Row[] {
  return ids.map((dispatch_id) => ({ dispatch_id }))
}

export function deliveryIds(ids: readonly string[]): readonly Row[] {
  return ids.map((delivery_id) => ({ delivery_id }))
}

/** @param keys Rows `x` with these columns. */
export async function readRecords<Name extends TableName>(
  table: Name,
  columns: Columns,
  keys: readonly Row[],
  join: Omit<LookUp, 'table'>,
  { dialect, nameOf, query }: Database,
): Promise<Records[Name][]> {
  if (keys.length === 0) return []
  const rows = dialect.rows(dialect.parameter(1), columns, 'x')
  const text = `select ${columnsOf(table, join.alias, dialect)} from ${rows} ${lookUp({ table, ...join }, dialect, nameOf)}`
  return (await query<Row>(text, [JSON.stringify(keys)])).map((row) => readRecord(table, row))
}

export function readHeads(ids: readonly string[], db: Database): Promise<Records['dispatches'][]> {
  const join = { alias: 'h', on: 'h.dispatch_id = x.dispatch_id' }
  return readRecords('dispatches', DISPATCH_ID, dispatchIds(ids), join, db)
}

export function readDigests(ids: readonly string[], db: Database): Promise<Records['digests'][]> {
  const join = { alias: 'd', on: 'd.delivery_id = x.delivery_id' }
  return readRecords('digests', DELIVERY_ID, deliveryIds(ids), join, db)
}

export function readJobs(ids: readonly string[], db: Database): Promise<Records['jobs'][]> {
  const join = { alias: 'j', on: 'j.delivery_id = x.delivery_id' }
  return readRecords('jobs', DELIVERY_ID, deliveryIds(ids), join, db)
}

export function readMembers(ids: readonly string[], db: Database): Promise<Records['members'][]> {
  const join = { alias: 'e', on: 'e.delivery_id = x.delivery_id' }
  return readRecords('members', DELIVERY_ID, deliveryIds(ids), join, db)
}

export async function readCounters(named: readonly TenantName[], db: Database): Promise<readonly CounterRecord[]> {
  if (named.length === 0) return []
  const { dialect, nameOf } = db
  const { tenant, name } = TABLES.counters.columns
  const rows = dialect.rows(dialect.parameter(1), { tenant, name }, 'x')
  const own = { table: 'counters', alias: 'c', on: 'c.tenant = x.tenant and c.name = x.name' } as const
  const text = `select distinct ${columnsOf('counters', 'c', dialect)} from ${rows} ${lookUp(own, dialect, nameOf)}`
  return (await db.query<Row>(text, [JSON.stringify(named)])).map((row) => readRecord('counters', row))
}

const STATUSES: Readonly<Record<DispatchStatus, true>> = {
  ...{ queued: true, sent: true, partial: true },
  ...{ failed: true, skipped: true, cancelled: true },
}

/** Reads the status of dispatches in lists, for those whose state does not tell it. */
export async function readListed(heads: readonly DispatchHead[], db: Database): Promise<Records['listed'][]> {
  const { tenant, status, created_at, dispatch_id } = TABLES.listed.columns
  const keys = heads.flatMap(({ tenant, createdAt: created_at, dispatchId: dispatch_id }) =>
    Object.keys(STATUSES).map((status) => ({ tenant, status, created_at, dispatch_id })),
  )
  const on = ['tenant', 'status', 'created_at', 'dispatch_id'].map((name) => `l.${name} = x.${name}`).join(' and ')
  return readRecords('listed', { tenant, status, created_at, dispatch_id }, keys, { alias: 'l', on }, db)
}
