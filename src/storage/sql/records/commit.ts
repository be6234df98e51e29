import { declarationOf, type Kind } from '../../engine/kinds.ts'
import type { Change, Records } from '../../engine/records.ts'
import { arrayOf, type Changes, Conflict, NOW, newChanges, sameKey, type TableChange } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { type Dialect, lookUp, Parameters } from '../connection/dialects.ts'
import type { Table } from '../schema/columns.ts'
import { functionName, scanStatement } from '../schema/functions.ts'
import { TABLES } from '../schema/tables.ts'
import { type Row, storedRow } from './record-columns.ts'

/** Within a table, comparisons come before changes, and removals before insertions. */
const PHASES = ['compare', 'update', 'remove', 'insert'] as const

/** Writes all changes in one transaction: on PostgreSQL in one statement, unless some are comparisons. */
export function recordCommitter(db: Database): Records['commit'] {
  return async (given) => {
    if (given.every((change) => change.do === 'compare')) return isUnchanged(given, db)
    const changes = tableChanges(given)
    const hasComparisons = given.some((change) => change.do === 'compare')
    try {
      await (hasComparisons && db.dialect.hasFunctions ? writeLocked(changes.list(), db) : db.write(changes))
      return true
    } catch (cause) {
      if (cause instanceof Conflict) return false
      throw cause
    }
  }
}

function tableChanges(given: readonly Change[]): Changes {
  const changes = newChanges()
  const { moved, others } = takeMoves(given)
  for (const { row, was } of moved) changes.update('listed', row as never, was)
  for (const phase of PHASES)
    for (const { do: action, kind, records } of others) {
      if (action !== phase) continue
      const isWritten = action === 'insert' || action === 'update'
      for (const record of records) changes[action](kind, (isWritten ? storedRow(kind, record) : record) as never)
    }
  return changes
}

interface Moved {
  readonly row: Row
  readonly was: string
}

/** A removal and an insertion that differ in the column {@link Table.moved} alone are one update of it. */
function takeMoves(given: readonly Change[]): { readonly moved: readonly Moved[]; readonly others: readonly Change[] } {
  const isOf = (action: Change['do'], { do: one, kind }: Change): boolean => one === action && kind === 'listed'
  if (!given.some((change) => isOf('remove', change)) || !given.some((change) => isOf('insert', change)))
    return { moved: [], others: given }
  const removed = new Map<string, Row>()
  for (const change of given)
    if (isOf('remove', change)) for (const row of change.records) removed.set(placeOf(row), row)
  const moved: Moved[] = []
  const taken = new Set<Row>()
  for (const change of given) {
    if (!isOf('insert', change)) continue
    for (const row of change.records as readonly Row[]) {
      const old = removed.get(placeOf(row))
      if (!old || taken.has(old)) continue
      moved.push({ row, was: String(old.status) })
      taken.add(old).add(row)
    }
  }
  const others = given.map((change): Change => {
    if (change.kind !== 'listed') return change
    return { ...change, records: change.records.filter((row) => !taken.has(row)) }
  })
  return { moved, others: others.filter(({ records }) => records.length > 0) }
}

/** Its version is fixed: a record with another one is not the same. */
function placeOf({ tenant, created_at, dispatch_id, version }: Row): string {
  return JSON.stringify([tenant, created_at, dispatch_id, version])
}

/** Compares versions in one statement without locks: the records were so at one moment. */
async function isUnchanged(given: readonly Change[], { dialect, nameOf, query, scan }: Database): Promise<boolean> {
  const compared = given.filter(({ records }) => records.length > 0)
  if (compared.length === 0) return true
  const counts = compared.map(({ kind }, at) => {
    const on = `${keyIs(kind, 'd', dialect)} and d.version = x.version`
    const found = lookUp({ table: kind, alias: 'd', on }, dialect, nameOf)
    return `(select count(*) from ${keyRows(kind, dialect.parameter(at + 1), dialect)} ${found})`
  })
  const parameters = compared.map(({ kind, records }) => keysOf(kind, records))
  const hasRivals = compared.some(({ kind }) => (TABLES[kind] as Table).hasRivals)
  const ask = hasRivals ? scan : query
  const [row] = await ask<{ readonly amount: unknown }>(`select ${counts.join(' + ')} as amount`, parameters)
  return Number(row?.amount) === compared.reduce((sum, { records }) => sum + records.length, 0)
}

/**
 * The statement of {@link Database.write} on PostgreSQL, after it has locked the compared rows: a concurrent commit that changes one of them
 * waits, or was committed and is seen.
 */
async function writeLocked(list: readonly TableChange[], db: Database): Promise<void> {
  const { dialect, prefix, nameOf } = db
  const parameters = new Parameters(dialect)
  const locks = list.flatMap(({ kind, table, rows }) => {
    if (kind !== 'compare') return []
    const keys = keysOf(table, rows)
    const found = `select o.version from ${nameOf(table)} o where ${keyIs(table, 'o', dialect)} for share`
    const text = `select d.version from ${keyRows(table, dialect.parameter(1), dialect)} cross join lateral (${found}) d`
    const statement = parameters.add(scanStatement(text, [keys]))
    const call = `${functionName('scan', dialect, prefix)}(${statement}, ${parameters.add(JSON.stringify([keys]))})`
    return `(select count(*) from ${call})`
  })
  const calls = list.map((change) => {
    const { kind, table, rows } = change
    const given = `${parameters.add(arrayOf(change))}::text::text[], ${parameters.add(rows.length)}`
    return `${functionName(kind, dialect, prefix)}('${table}', ${given})`
  })
  const text = `select ${[`${NOW} as now`, ...locks, ...calls].join(', ')}`
  await db.transaction((on) => on.query(text, parameters.values))
}

/** Keys and versions, as a parameter of {@link keyRows}. */
function keysOf(kind: Kind, records: readonly Row[]): string {
  return JSON.stringify(records, [...declarationOf(kind).key, 'version'])
}

/** Rows `x` of keys and versions. */
function keyRows(kind: Kind, parameter: string, dialect: Dialect): string {
  const { primaryKey, columns }: Table = TABLES[kind]
  const given = Object.entries(columns).filter(([name]) => primaryKey.includes(name) || name === 'version')
  return dialect.rows(parameter, Object.fromEntries(given), 'x')
}

/** Compares the key of a row with that of `x`. */
function keyIs(kind: Kind, alias: string, dialect: Dialect): string {
  const table: Table = TABLES[kind]
  return sameKey(table, table.primaryKey, dialect, alias)
}
