import { sha256 } from '../../model/sha256.ts'
import { timePart } from '../../model/time-part.ts'
import { declarationOf, type Kind } from '../engine/kinds.ts'
import type { Prefix, Value } from '../engine/records.ts'

/** Longest part of a key in characters: a key of four texts has at most 400. Longer parts contain a hash. */
const MAX_PART = 94
/** The start of the keys of statistics has the time by which they are listed. */
const START_OF_LONG_PART = 30
/** 160 bits of the hash, in hexadecimal digits. */
const HASH = 40
const END_OF_LONG_PART = 16

/** Values of a record by column. */
export type Row = Readonly<Record<string, unknown>>

/** The order of a kind's key or of one of its indexes. The keys of its documents follow it. */
export interface Order {
  readonly kind: Kind
  /** First part of the documents' keys. */
  readonly name: string
  readonly columns: readonly string[]
  /** Columns of the record's key that are not among `columns`. They share the last part of a document's key. */
  readonly others: readonly string[]
  readonly isIndex: boolean
}

/** @throws {Error} If the kind has no such index. */
export function orderOf(kind: Kind, index?: string): Order {
  const { key, indexes } = declarationOf(kind)
  if (index === undefined) return { kind, name: kind, columns: key, others: [], isIndex: false }
  const columns = indexes?.[index]
  if (!columns) throw new Error(`${kind} has no index ${index}`)
  const others = key.filter((column) => !columns.includes(column))
  return { kind, name: `${kind}.${index}`, columns, others, isIndex: true }
}

/** The orders of all indexes of a kind. */
export function indexOrders(kind: Kind): readonly Order[] {
  return Object.keys(declarationOf(kind).indexes ?? {}).map((index) => orderOf(kind, index))
}

/** Columns of a position: those after a prefix of `length` columns, then those of the record's key that are not among them. */
export function positionColumns(order: Order, length: number): readonly string[] {
  const after = order.columns.slice(length)
  return [...after, ...declarationOf(order.kind).key.filter((column) => !after.includes(column))]
}

/** Key of a record's document. */
export function recordKey(kind: Kind, row: Row): Promise<string> {
  return orderKey(orderOf(kind), row)
}

/** Key of the document that a record has in an order. */
export async function orderKey(order: Order, row: Row): Promise<string> {
  return `${order.name}/${await partsAfter(order, 0, row)}`
}

/** End of that key: the columns after the first `length`, and the others. */
export async function partsAfter(order: Order, length: number, row: Row): Promise<string> {
  const parts = order.columns.slice(length).map((column) => keyPart(row[column] as Value))
  if (order.others.length > 0) parts.push(keyPartOfAll(order.others.map((column) => row[column] as Value)))
  return (await Promise.all(parts)).join('/')
}

/** Keys of an order with the same leading values. */
export interface KeyRange {
  /** Start of the keys; the key itself if the range is of one. */
  readonly prefix: string
  readonly isOneKey: boolean
}

export async function rangeOf(order: Order, values: Prefix): Promise<KeyRange> {
  const prefix = [order.name, ...(await Promise.all(values.map(keyPart)))].join('/')
  const isOneKey = values.length === order.columns.length && order.others.length === 0
  return { prefix: isOneKey ? prefix : `${prefix}/`, isOneKey }
}

/**
 * Part of a key for a value. Different values of a column have different parts, also in databases that ignore case. Numbers sort by size.
 * Texts of equal length that begin with the same characters and end with 16 digits sort by these.
 */
export async function keyPart(value: Value): Promise<string> {
  return shortened(typeof value === 'number' ? timePart(value) : escaped(value))
}

/** One part for several values. `.-` separates them: no escaped text contains it. */
async function keyPartOfAll(values: readonly Value[]): Promise<string> {
  return shortened(values.map((value) => (typeof value === 'number' ? timePart(value) : escaped(value))).join('.-'))
}

/**
 * Keeps `a-z`, `0-9` and `-`. `A` becomes `_a`; other UTF-16 code units become `.` and four hex digits. An empty text becomes `_`, so
 * no part is empty.
 */
function escaped(text: string): string {
  if (text === '') return '_'
  return text.replace(/[^a-z0-9-]/g, (character) => {
    if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`
    return `.${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A long part becomes its start, the SHA-256 of all but its end, and its end. Escaped texts never contain `.x`. */
async function shortened(part: string): Promise<string> {
  if (part.length <= MAX_PART) return part
  const hash = await sha256(part.slice(0, -END_OF_LONG_PART))
  return `${part.slice(0, START_OF_LONG_PART)}.x${hash.slice(0, HASH)}${part.slice(-END_OF_LONG_PART)}`
}
