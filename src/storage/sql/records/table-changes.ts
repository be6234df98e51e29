import { KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Change } from '../../engine/records.ts'
import { type Row, storedRow } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'
import type { TableChange } from './change-texts.ts'

/** Within a table, comparisons come before changes, and removals before insertions. */
const PHASES = ['compare', 'update', 'remove', 'insert'] as const

/** Changes of rows, sorted by table and primary key: all writers lock rows in the same order. */
export function tableChanges(given: readonly Change[]): readonly TableChange[] {
  const { moved, others } = takeMoves(given)
  const list: TableChange[] = []
  for (const kind of KIND_NAMES)
    for (const phase of PHASES) {
      const rows = others.flatMap((change) => (change.do === phase && change.kind === kind ? rowsOf(change) : []))
      if (kind === 'listed' && phase === 'update') rows.push(...moved)
      if (rows.length > 0) list.push({ do: phase, kind, rows: rows.length > 1 ? rows.sort(byPrimaryKey(kind)) : rows })
    }
  return list
}

function rowsOf({ do: what, kind, records }: Change): readonly Row[] {
  return what === 'insert' || what === 'update' ? records.map((record) => storedRow(kind, record)) : records
}

function byPrimaryKey(kind: Kind): (one: Row, other: Row) => number {
  const { primaryKey } = TABLES[kind]
  return (one, other) => {
    for (const column of primaryKey) {
      const [first, second] = [String(one[column]), String(other[column])]
      if (first !== second) return first < second ? -1 : 1
    }
    return 0
  }
}

/** A removal and an insertion that differ in the column `moved` of the table alone are one update of it. */
function takeMoves(given: readonly Change[]): { readonly moved: readonly Row[]; readonly others: readonly Change[] } {
  const isOf = (action: Change['do'], { do: one, kind }: Change): boolean => one === action && kind === 'listed'
  if (!given.some((change) => isOf('remove', change)) || !given.some((change) => isOf('insert', change)))
    return { moved: [], others: given }
  const removed = new Map<string, Row>()
  for (const change of given)
    if (isOf('remove', change)) for (const row of change.records) removed.set(placeOf(row), row)
  const moved: Row[] = []
  const taken = new Set<Row>()
  for (const change of given) {
    if (!isOf('insert', change)) continue
    for (const row of change.records as readonly Row[]) {
      const old = removed.get(placeOf(row))
      if (!old || taken.has(old)) continue
      moved.push({ ...row, was: old.status })
      taken.add(old).add(row)
    }
  }
  const others = given.map((change): Change => {
    if (change.kind !== 'listed') return change
    return { ...change, records: change.records.filter((row) => !taken.has(row)) }
  })
  return { moved, others }
}

/** Its version is fixed: a record with another one is not the same. */
function placeOf({ tenant, created_at, dispatch_id, version }: Row): string {
  return JSON.stringify([tenant, created_at, dispatch_id, version])
}
