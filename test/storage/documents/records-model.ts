import { columnOf, isJson, isNumber } from '../../../src/storage/engine/columns.ts'
import { declarationOf, type Kind } from '../../../src/storage/engine/kinds.ts'
import type {
  Change,
  Filter,
  Found,
  Prefix,
  Scan,
  Scanned,
  Value,
  Wanted,
} from '../../../src/storage/engine/records.ts'

export type Row = Record<string, unknown>

/** Texts whose order as parts of keys is that of this list. */
export const TEXTS: readonly string[] = ['é', '', 'A', 'B', 'a', 'b1']

/** Records in lists, without indexes, for one caller at a time. */
export class RecordsModel {
  #rows: { readonly kind: Kind; readonly row: Row }[] = []

  all(kind: Kind): readonly Row[] {
    return this.#rows.filter((record) => record.kind === kind).map(({ row }) => row)
  }

  find(kind: Kind, row: Row): Row | undefined {
    const { key } = declarationOf(kind)
    return this.all(kind).find((other) => key.every((column) => other[column] === row[column]))
  }

  commit(changes: readonly Change[]): boolean {
    const saved = this.#rows
    this.#rows = [...saved]
    const ordered = ['compare', 'update', 'remove', 'insert'].flatMap((what) =>
      changes.filter((change) => change.do === what),
    )
    const isDone = ordered.every((change) =>
      change.records.every((row: Row) => this.#apply(change.do, change.kind, row)),
    )
    if (!isDone) this.#rows = saved
    return isDone
  }

  #apply(what: Change['do'], kind: Kind, given: Row): boolean {
    const old = this.find(kind, given)
    if (what === 'insert' ? old : old?.version !== given.version) return false
    if (what === 'compare') return true
    this.#rows = this.#rows.filter(({ row }) => row !== old)
    if (what === 'insert') this.#rows.push({ kind, row: given })
    if (what === 'update') this.#rows.push({ kind, row: updated(kind, old ?? {}, given) })
    return true
  }

  read(wanted: readonly Wanted[]): Found {
    const found: Partial<Record<Kind, Row[]>> = {}
    for (const { kind, index, with: prefixes } of wanted) {
      const columns = columnsOf(kind, index)
      const rows = this.all(kind).filter(
        (row) => isIn(row, columns) && prefixes.some((prefix) => begins(row, columns, prefix)),
      )
      found[kind] = [...new Set([...(found[kind] ?? []), ...rows])]
    }
    return found as unknown as Found
  }

  scan({
    kind,
    index,
    with: prefixes,
    from,
    until,
    after,
    isReverse,
    where = [],
    limit,
    most = 1e9,
  }: Scan): Scanned<Kind> {
    const columns = columnsOf(kind, index)
    const left = columns.slice(prefixes[0]?.length ?? 0)
    const position = [...left, ...declarationOf(kind).key.filter((column) => !left.includes(column))]
    // Records with equal columns of the index may come in any fixed order: here the columns of the prefix are last.
    const order = [...position].sort((one, other) => late(one, columns, left) - late(other, columns, left))
    const compare = (at: Prefix, against: Prefix): number => {
      const isWhole = against.length === position.length
      return compareValues(isWhole ? inOrder(at) : at, isWhole ? inOrder(against) : against)
    }
    const inOrder = (at: Prefix): Prefix => order.map((column) => at[position.indexOf(column)] as Value)
    const sign = isReverse ? -1 : 1
    const all = this.all(kind)
      .filter((row) => isIn(row, columns) && prefixes.some((prefix) => begins(row, columns, prefix)))
      .map((row) => ({ row, at: position.map((column) => row[column] as Value) }))
      .filter(({ at }) => !from || compare(at, from) >= 0)
      .filter(({ at }) => !until || compare(at, until) < 0)
      .filter(({ at }) => !after || sign * compare(at, after) > 0)
      .sort((one, other) => sign * compare(one.at, other.at))
    const found: { record: Row; at: Prefix }[] = []
    let looked = 0
    for (const { row, at } of all) {
      if (found.length >= limit || looked >= most) break
      looked++
      if (where.every((filter) => this.#passes(row, filter))) found.push({ record: row, at })
    }
    const last = looked < all.length ? all[looked - 1]?.at : undefined
    return { found: found as never, ...(last && { last }) }
  }

  #passes(scanned: Row, filter: Filter): boolean {
    const row = filter.of === undefined ? scanned : this.find(filter.of, { ...scanned, ...filter.key })
    if (!row || filter.column === undefined) return row !== undefined
    const value = row[filter.column]
    if (value === null) return false
    if ('in' in filter) return filter.in.includes(value as Value)
    if ('contains' in filter) return String(value).includes(filter.contains)
    if ('lacks' in filter) return !String(value).includes(filter.lacks)
    return Number(value) < filter.below
  }
}

function columnsOf(kind: Kind, index: string | undefined): readonly string[] {
  const { key, indexes } = declarationOf(kind)
  return index === undefined ? key : (indexes?.[index] ?? [])
}

function updated(kind: Kind, old: Row, given: Row): Row {
  const row = { ...old, version: Number(old.version) + 1 }
  for (const [name, words] of Object.entries(declarationOf(kind).columns)) {
    const { fixed, kept } = columnOf(words)
    if (name === 'version' || fixed || (kept && given[name] === null)) continue
    Object.assign(row, { [name]: given[name] })
  }
  return row
}

function isIn(row: Row, columns: readonly string[]): boolean {
  return columns.every((column) => row[column] !== null)
}

function begins(row: Row, columns: readonly string[], prefix: Prefix): boolean {
  return prefix.every((value, at) => row[columns[at] ?? ''] === value)
}

/** 2: the column is in the prefix; 1: only in the key. */
function late(column: string, columns: readonly string[], left: readonly string[]): number {
  if (left.includes(column)) return 0
  return columns.includes(column) ? 2 : 1
}

/** Compares as many values as the position has. */
function compareValues(at: Prefix, position: Prefix): number {
  for (const [nth, against] of position.entries()) {
    const difference = rank(at[nth]) - rank(against)
    if (difference !== 0) return difference
  }
  return 0
}

function rank(value: Value | undefined): number {
  return typeof value === 'number' ? value : TEXTS.indexOf(value ?? '')
}

/** A record whose values are drawn by `pick`, which gives a whole number below its argument. */
export function drawRecord(kind: Kind, pick: (below: number) => number): Row {
  const { key, columns } = declarationOf(kind)
  const values = Object.entries(columns).map(([name, words]) => {
    const column = columnOf(words)
    const isAbsent = (column.optional || column.kept) && pick(3) === 0
    if (isAbsent) return [name, null]
    if (column.kind === 'flag') return [name, 1]
    if (isNumber(column)) return [name, pick(3)]
    if (isJson(column)) return [name, { n: pick(100) }]
    return [name, TEXTS[pick(key.includes(name) ? 3 : TEXTS.length)]]
  })
  return { ...Object.fromEntries(values), version: 1 }
}
