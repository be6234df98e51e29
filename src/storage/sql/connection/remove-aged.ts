import type { Table } from '../schema/columns.ts'
import type { Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { NOW, newChanges, retryOnConflict } from './changes.ts'
import type { Database } from './database.ts'
import { tableAlong } from './dialects.ts'
import type { RemovedPart } from './removal-parts.ts'

/** A table and its index over one column with a time. */
export interface AgedTable<Name extends TableName> {
  readonly table: Name
  readonly index: string
  readonly at: keyof Records[Name] & string
}

export interface AgedRows {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** The time lies more than this many milliseconds before that of the statement. */
  readonly forMs: number
  readonly limit: number
}

/** Removes old rows of a table, the oldest first and from an instant on: a step of `removalParts`. */
export function removeAged<Name extends TableName>(
  { table, index, at }: AgedTable<Name>,
  { tenant, forMs, limit }: AgedRows,
  from: number,
  db: Database,
): Promise<RemovedPart> {
  const { dialect, nameOf } = db
  const { primaryKey }: Table = TABLES[table]
  const columns = [...new Set([...primaryKey, at, 'version'])].map((name) => `r.${name}`).join(', ')
  const ofTenant = tenant === undefined ? '' : `and r.tenant = ${dialect.parameter(3)}`
  const text = `select ${columns} from ${tableAlong({ table, alias: 'r', index }, dialect, nameOf)}
    where r.${at} >= ${dialect.parameter(1)} and r.${at} < ${NOW} - ${dialect.parameter(2)} ${ofTenant}
    order by r.${at} limit ${Math.trunc(limit)}`
  const parameters = [from, Math.floor(forMs), ...(tenant === undefined ? [] : [tenant])]
  return retryOnConflict(async () => {
    const old = await db.scan<Partial<Records[Name]>>(text, parameters)
    const changes = newChanges()
    for (const row of old) changes.remove(table, { ...row, version: Number(row.version) })
    await db.write(changes)
    return { count: old.length, until: Number(old.at(-1)?.[at] ?? 0) }
  })
}
