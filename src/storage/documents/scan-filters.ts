import { declarationOf, type Kind } from '../engine/kinds.ts'
import type { Filter } from '../engine/records.ts'
import type { TextReader } from './document-texts.ts'
import { parseRecord } from './record-documents.ts'
import { type Row, recordKey } from './record-keys.ts'

/** Whether a record matches all filters. Other records that they need are read. */
export async function matches(row: Row, filters: readonly Filter[], reader: TextReader): Promise<boolean> {
  if (!filters.every((filter) => filter.of !== undefined || passes(row, filter))) return false
  const others = filters.filter((filter) => filter.of !== undefined)
  return (await Promise.all(others.map((filter) => otherPasses(row, filter, reader)))).every(Boolean)
}

/** Columns of the scanned record that filters use. */
export function columnsUsed(filters: readonly Filter[]): readonly string[] {
  return filters.flatMap((filter) => {
    if (filter.of === undefined) return filter.column === undefined ? [] : [filter.column]
    return declarationOf(filter.of).key.filter((column) => filter.key?.[column] === undefined)
  })
}

async function otherPasses(row: Row, filter: Filter, reader: TextReader): Promise<boolean> {
  const kind = filter.of as Kind
  const key: Row = { ...row, ...filter.key }
  if (declarationOf(kind).key.some((column) => key[column] === null || key[column] === undefined)) return false
  const other = await readRow(kind, key, reader)
  return other !== undefined && passes(other, filter)
}

/** The record whose key has the columns of a row. */
export async function readRow(kind: Kind, row: Row, reader: TextReader): Promise<Row | undefined> {
  const text = await reader.read(await recordKey(kind, row))
  return text === undefined ? undefined : parseRecord(kind, text)
}

/** An absent value passes no test. */
function passes(row: Row, filter: Filter): boolean {
  if (filter.column === undefined) return true
  const value = row[filter.column]
  if ('in' in filter) return filter.in.some((allowed) => allowed === value)
  if ('contains' in filter) return typeof value === 'string' && value.includes(filter.contains)
  if ('lacks' in filter) return typeof value === 'string' && !value.includes(filter.lacks)
  return typeof value === 'number' && value < filter.below
}
