import type { TableName } from '../schema/records.ts'
import type { Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'
import type { Database } from './database.ts'
import type { Dialect } from './dialects.ts'

/** A part of one index that is read in order of time: rows of equal keys, oldest or newest first. */
export interface IndexScan {
  readonly table: TableName
  /** The name of the index: its columns are `keys`, `at` and `ids`, in this order. Absent: there is none, and all is sorted. */
  readonly index?: string
  readonly keys: readonly (readonly [column: string, value: string])[]
  /** The column of the time. */
  readonly at: string
  /** The columns that tell rows of one time apart. */
  readonly ids: readonly string[]
}

/** Where a page begins and how it goes on. */
export interface ScanRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly isNewestFirst: boolean
  /** The row that the page before ended with. */
  readonly after?: { readonly at: number; readonly ids: readonly string[] } | undefined
}

/** Binds values to a text that has a `?` for each. */
export type Bind = (text: string, values: readonly unknown[]) => string

/** The parameters of a statement, in the order in which its text names them. */
export function binder({ dialect }: Database): { readonly bind: Bind; readonly parameters: readonly unknown[] } {
  const parameters: unknown[] = []
  return {
    parameters,
    bind(text, values) {
      let at = parameters.length
      parameters.push(...values)
      return text.replaceAll('?', () => dialect.parameter(++at))
    },
  }
}

/**
 * Reads so many rows of an index at most. No other index can serve it, whatever the statistics say: MySQL and SQLite are told the
 * index by name; PostgreSQL cannot know that the key is the same in all rows, so only this index is in the order that is asked for.
 *
 * @param columns Of the row, as `r`.
 */
export function scanText(
  scan: IndexScan,
  range: ScanRange,
  columns: string,
  limit: number,
  bind: Bind,
  { dialect, nameOf, prefix }: Database,
): string {
  const direction = range.isNewestFirst ? 'desc' : 'asc'
  const isPostgres = dialect.name === 'postgresql'
  const present = presentIn(scan)
  const notNull = present === undefined ? [] : [`r.${present} is not null`]
  const conditions = isPostgres ? rowBounds(scan, range) : keyBounds(scan, range)
  const where = [...notNull, ...conditions.map(([text, ...values]) => bind(text, values))]
  const head = isPostgres ? scan.keys.slice(1).map(([column]) => column) : []
  const order = [...head, scan.at, ...scan.ids].map((column) => `r.${column} ${direction}`).join(', ')
  const forced =
    isPostgres || scan.index === undefined ? '' : forceText(`${prefix}${scan.table}_${scan.index}`, dialect)
  return `select ${columns} from ${nameOf(scan.table)} r${forced}${
    where.length > 0 ? ` where ${where.join(' and ')}` : ''
  } order by ${order} limit ${limit}`
}

/**
 * The first of several scans, in the order of the list.
 *
 * @param order The columns of that order, as the scans give them.
 */
export function mergedText(
  texts: readonly string[],
  order: readonly string[],
  { isNewestFirst }: ScanRange,
  limit: number,
): string {
  const [only = '', ...others] = texts
  if (others.length === 0) return only
  const direction = isNewestFirst ? 'desc' : 'asc'
  const all = texts.map((text, at) => `select * from (${text}) s${at}`).join(' union all ')
  return `select * from (${all}) u order by ${order.map((column) => `u.${column} ${direction}`).join(', ')} limit ${limit}`
}

/** The column that is there in all rows of the index. */
function presentIn({ table, index }: IndexScan): string | undefined {
  const { indexes }: Table = TABLES[table]
  return indexes.find(({ name }) => name === index)?.present
}

function forceText(index: string, dialect: Dialect): string {
  const name = dialect.quote(index)
  return dialect.name === 'sqlite' ? ` indexed by ${name}` : ` force index (${name})`
}

type Condition = readonly [text: string, ...values: readonly unknown[]]

function keyBounds(scan: IndexScan, { since, until, isNewestFirst, after }: ScanRange): readonly Condition[] {
  const { keys, at, ids } = scan
  const conditions = keys.map(([column, value]): Condition => [`r.${column} = ?`, value])
  if (since !== undefined) conditions.push([`r.${at} >= ?`, Math.ceil(since)])
  if (until !== undefined) conditions.push([`r.${at} < ?`, Math.ceil(until)])
  if (!after) return conditions
  const sign = isNewestFirst ? '<' : '>'
  conditions.push([`r.${at} ${sign}= ?`, after.at])
  const [first = '', second] = ids
  const [one, other] = after.ids
  const within: Condition =
    second === undefined
      ? [`r.${first} ${sign} ?`, one]
      : [`(r.${first} ${sign} ? or (r.${first} = ? and r.${second} ${sign} ?))`, one, one, other]
  conditions.push([`(r.${at} ${sign} ? or ${within[0]})`, after.at, ...within.slice(1)])
  return conditions
}

/** One lower and one upper bound, each of whole rows of the index: PostgreSQL begins and ends the scan at these. */
function rowBounds(scan: IndexScan, { since, until, isNewestFirst, after }: ScanRange): readonly Condition[] {
  const { keys, at, ids } = scan
  const [first, second] = keys
  const conditions: Condition[] = first ? [[`r.${first[0]} = ?`, first[1]]] : []
  const head = second ? [second[0]] : []
  const values = second ? [second[1]] : []
  const bound = (sign: string, columns: readonly string[], given: readonly unknown[]): Condition => {
    const names = columns.map((column) => `r.${column}`).join(', ')
    return [`(${names}) ${sign} (${given.map(() => '?').join(', ')})`, ...given]
  }
  const goesOn = after && bound(isNewestFirst ? '<' : '>', [...head, at, ...ids], [...values, after.at, ...after.ids])
  const isAfterSince = goesOn && !isNewestFirst && (since === undefined || after.at >= since)
  const isBeforeUntil = goesOn && isNewestFirst && (until === undefined || after.at < until)
  if (isAfterSince) conditions.push(goesOn)
  else if (since !== undefined) conditions.push(bound('>=', [...head, at], [...values, Math.ceil(since)]))
  else if (second) conditions.push([`r.${second[0]} >= ?`, second[1]])
  if (isBeforeUntil) conditions.push(goesOn)
  else if (until !== undefined) conditions.push(bound('<', [...head, at], [...values, Math.ceil(until)]))
  else if (second) conditions.push([`r.${second[0]} <= ?`, second[1]])
  return conditions
}
