import { type Column, type ColumnWords, columnOf } from '../engine/columns.ts'
import { declarationOf, type Kind } from '../engine/kinds.ts'
import { indexOrders, type Order, orderKey, type Row } from './record-keys.ts'

type NamedColumn = readonly [name: string, column: Column]

const columnsByKind = new Map<Kind, readonly NamedColumn[]>()

/** Text of a record's document: JSON without the absent columns. */
export function recordText(kind: Kind, row: Row): string {
  return JSON.stringify(Object.fromEntries(columnsOf(kind).map(([name]) => [name, row[name] ?? undefined])))
}

/** The record of a text. @throws {SyntaxError} If the text is not JSON. */
export function parseRecord(kind: Kind, text: string): Row {
  const stored: Row = JSON.parse(text)
  return Object.fromEntries(columnsOf(kind).map(([name]) => [name, stored[name] ?? null]))
}

/** A record after an update: `fixed` columns stay, an absent `kept` column too, and the version grows by 1. */
export function updatedRecord(kind: Kind, row: Row, update: Row): Row {
  const next = columnsOf(kind).map(([name, { fixed, kept }]) => {
    const value = update[name] ?? null
    return [name, fixed || (kept && value === null) ? row[name] : value]
  })
  return { ...Object.fromEntries(next), version: Number(row.version) + 1 }
}

/** Index documents of a record, by key. A record with an absent column of an index is not in it. */
export async function entriesOf(kind: Kind, row: Row | undefined): Promise<ReadonlyMap<string, string>> {
  if (!row) return new Map()
  const orders = indexOrders(kind).filter((order) => isIn(order, row))
  return new Map(
    await Promise.all(orders.map(async (order) => [await orderKey(order, row), entryText(order, row)] as const)),
  )
}

/** Whether a record is in an index. */
function isIn(order: Order, row: Row): boolean {
  return order.columns.every((column) => row[column] !== null && row[column] !== undefined)
}

/** Text of an index document: the values of the index and of the record's key. */
export function entryText(order: Order, row: Row): string {
  return JSON.stringify(entryColumns(order).map((column) => row[column]))
}

/** The columns of a record that its index document has. */
export function parseEntry(order: Order, text: string): Row {
  const values: readonly unknown[] = JSON.parse(text)
  return Object.fromEntries(entryColumns(order).map((column, at) => [column, values[at]]))
}

export function entryColumns({ columns, others }: Order): readonly string[] {
  return [...columns, ...others]
}

function columnsOf(kind: Kind): readonly NamedColumn[] {
  const known = columnsByKind.get(kind)
  if (known) return known
  const declared: Readonly<Record<string, ColumnWords>> = declarationOf(kind).columns
  const columns = Object.entries(declared).map(([name, words]) => [name, columnOf(words)] as const)
  columnsByKind.set(kind, columns)
  return columns
}
