import { type ColumnWords, columnOf, isJson, isNumber } from '../../engine/columns.ts'
import { type JsonColumn, Unreadable } from '../../engine/json-values.ts'
import { declarationOf, KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Prefix, Value } from '../../engine/records.ts'
import { decode } from './stored-json.ts'

/** A record, or a row of a statement, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** A column of a kind, with its conversions. */
export interface KindColumn {
  readonly name: string
  readonly isNumber: boolean
  /** Its values may be long. */
  readonly isLong: boolean
  /** A column of JSON. */
  readonly json?: JsonColumn
  /** Its JSON is a list: objects that are each followed by a comma. */
  readonly isList: boolean
}

/** Columns of the kinds, in the order of their declaration. */
const COLUMNS = Object.fromEntries(KIND_NAMES.map((kind) => [kind, columnsIn(kind)])) as unknown as Readonly<
  Record<Kind, readonly KindColumn[]>
>

const JSON_COLUMNS = Object.fromEntries(
  Object.entries(COLUMNS).map(([kind, columns]) => [kind, columns.filter(({ json }) => json)]),
) as unknown as Readonly<Record<Kind, readonly KindColumn[]>>

function columnsIn(kind: Kind): readonly KindColumn[] {
  const declared: readonly (readonly [string, ColumnWords])[] = Object.entries(declarationOf(kind).columns)
  return declared.map(([name, words]): KindColumn => {
    const column = columnOf(words)
    return {
      name,
      isNumber: isNumber(column),
      isLong: isJson(column) || column.kind === 'text',
      isList: column.kind === 'list',
      ...(isJson(column) && { json: `${kind}.${name}` as JsonColumn }),
    }
  })
}

/** The columns of a kind. @param names Default: all. */
export function columnsOf(kind: Kind, names?: readonly string[]): readonly KindColumn[] {
  return names === undefined ? COLUMNS[kind] : COLUMNS[kind].filter(({ name }) => names.includes(name))
}

/** Columns of the key or of an index. */
export function indexColumns(kind: Kind, index: string | undefined): readonly string[] {
  const { key, indexes } = declarationOf(kind)
  const columns = index === undefined ? key : indexes?.[index]
  if (!columns) throw new Error(`the kind ${kind} has no index ${index}`)
  return columns
}

/** The value of a column from a driver, which may return large integers as text or `bigint`. */
export function readValue({ isNumber, json }: KindColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (json) return readJson(json, String(value))
  return isNumber && typeof value !== 'number' ? Number(value) : value
}

function readJson(column: JsonColumn, text: string): unknown {
  const value = decode(column, text)
  return value === undefined ? new Unreadable(column, text) : value
}

/** Converts the columns of a row in place. @param row It is not shared, and has no other columns. */
export function convertRow(columns: readonly KindColumn[], row: Row): Row {
  const record = row as Record<string, unknown>
  for (const column of columns) {
    const { name, json, isNumber } = column
    const value = record[name]
    if (value === undefined) record[name] = null
    else if (json !== undefined || (isNumber && typeof value !== 'number')) record[name] = readValue(column, value)
  }
  return record
}

/** A record from the columns of a row that have other names there. @param from In the order of the columns. */
export function recordFrom(columns: readonly KindColumn[], from: readonly string[], row: Row): Row {
  const record: Record<string, unknown> = {}
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at] as KindColumn
    record[column.name] = readValue(column, row[from[at] as string])
  }
  return record
}

/** A record as it is stored: JSON as text. */
export function storedRow(kind: Kind, record: Row): Row {
  const columns = JSON_COLUMNS[kind]
  if (columns.length === 0) return record
  const row: Record<string, unknown> = { ...record }
  for (const { name, isList } of columns) {
    const value = row[name] ?? null
    if (value === null) continue
    if (value instanceof Unreadable) row[name] = value.text
    else row[name] = isList ? listText(value as readonly unknown[]) : JSON.stringify(value)
  }
  return row
}

function listText(list: readonly unknown[]): string {
  let text = ''
  for (const one of list) text += `${JSON.stringify(one)},`
  return text
}

/** Compares values by position, as many as both have. Texts compare as databases compare them: by code points. */
export function comparePositions(one: Prefix, other: Prefix): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const order = compareValues(one[at] as Value, other[at] as Value)
    if (order !== 0) return order
  }
  return 0
}

function compareValues(one: Value, other: Value): number {
  if (one === other) return 0
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other)
  return one < other ? -1 : 1
}

const FIRST_SURROGATE = 0xd800
const LAST_SURROGATE = 0xdfff

/** Surrogates are code units of characters after all others. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return weightOf(a) - weightOf(b)
  }
  return one.length - other.length
}

function weightOf(code: number): number {
  return code >= FIRST_SURROGATE && code <= LAST_SURROGATE ? code + 0x10000 : code
}
