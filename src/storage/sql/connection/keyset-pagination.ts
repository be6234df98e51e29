import type { Page } from '../../../ports/dispatch-query.ts'
import type { TableName } from '../schema/records.ts'
import { TABLES, type Table } from '../schema/tables.ts'
import type { Database } from './database.ts'
import type { Parameters } from './dialects.ts'

/** A position in a list that is ordered by time, then by id. */
export interface KeysetPosition {
  readonly at: number
  readonly id: string
}

export function cursorOf(at: number, id: string): string {
  return `${at} ${id}`
}

/** `undefined` for no cursor, or one that this store did not make: the list is read from its beginning. */
export function positionOf(cursor: string | undefined): KeysetPosition | undefined {
  const [, at, id] = /^(\d{1,16}) (.+)$/s.exec(cursor ?? '') ?? []
  return at === undefined || id === undefined ? undefined : { at: Number(at), id }
}

/**
 * The rows that are read for one page at most. A page of filters that rarely match then ends early, with a cursor. A single filter
 * has an index: every row that is read matches.
 */
const MAX_READ = 10_000
/** Each further read of a page is so many times larger. */
const GROWTH = 4

/** A row that was read, in the order of the list. */
export interface Entry<Item> {
  readonly cursor: string
  /** Absent if it does not match. */
  readonly item?: Item | undefined
}

/** The rows that were read from a cursor on. */
export interface PageEntries<Item> {
  readonly entries: readonly Entry<Item>[]
  /** Nothing follows. */
  readonly isEnd: boolean
}

/**
 * Reads until a page is full and one more row matches, or nothing is left.
 *
 * @param read Reads at most `amount` rows. It may leave out rows after the first `needed` matches.
 */
export async function filledPage<Item>(
  limit: number,
  first: string | undefined,
  read: (cursor: string | undefined, amount: number, needed: number) => Promise<PageEntries<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = []
  let cursor = first
  let last = first
  let seen = 0
  for (let amount = limit + 1; ; amount = Math.min(amount * GROWTH, MAX_READ - seen)) {
    const { entries, isEnd } = await read(cursor, amount, limit + 1 - items.length)
    for (const { cursor: own, item } of entries) {
      if (item !== undefined) {
        // The next page begins after the last match: rows that were passed over since may match by then.
        if (items.length >= limit) return pageOf(items, last)
        items.push(item)
        last = own
      }
      cursor = own
    }
    if (isEnd) return { items }
    seen += entries.length
    if (seen >= MAX_READ) return pageOf(items, cursor)
  }
}

function pageOf<Item>(items: readonly Item[], nextCursor: string | undefined): Page<Item> {
  return { items, ...(nextCursor !== undefined && { nextCursor }) }
}

/** A part of one index, read in order of time: rows with equal keys, oldest or newest first. */
export interface IndexScan {
  readonly table: TableName
  /** The name of the index. Its columns are `keys`, `at` and `ids`, in this order. Absent: no index serves, and all rows are sorted. */
  readonly index?: string
  readonly keys: readonly (readonly [column: string, value: string])[]
  /** The column of the time. */
  readonly at: string
  /** The columns that distinguish rows of one time. */
  readonly ids: readonly string[]
}

/** Where a page begins, and its direction. */
export interface ScanRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly isNewestFirst: boolean
  /** The last row of the previous page. */
  readonly after?: { readonly at: number; readonly ids: readonly string[] } | undefined
}

/**
 * Reads at most `limit` rows of an index. No other index can serve it, whatever the statistics say: MySQL and SQLite get the name of
 * the index; PostgreSQL does not know that the key is the same in all rows, so only this index has the order that is asked for.
 *
 * @param columns Of the row `r`.
 */
export function scanText(
  scan: IndexScan,
  range: ScanRange,
  columns: string,
  limit: number,
  parameters: Parameters,
  { dialect, nameOf }: Database,
): string {
  const { table, index, keys, at, ids } = scan
  const isPostgres = dialect.name === 'postgresql'
  const { indexes }: Table = TABLES[table]
  const present = indexes.find(({ name }) => name === index)?.present
  const conditions = (isPostgres ? rowBounds(scan, range) : keyBounds(scan, range)).map(([text, ...values]) =>
    parameters.bind(text, values),
  )
  const where = [...(present === undefined ? [] : [`r.${present} is not null`]), ...conditions]
  const head = isPostgres ? keys.slice(1).map(([column]) => column) : []
  const forced = isPostgres || index === undefined ? '' : dialect.along(nameOf.index(table, index))
  return `select ${columns} from ${nameOf(table)} r${forced}${
    where.length > 0 ? ` where ${where.join(' and ')}` : ''
  } order by ${orderOf('r', [...head, at, ...ids], range)} limit ${limit}`
}

/**
 * The first rows of several scans, in the order of the list.
 *
 * @param order The columns of that order.
 */
export function mergedText(
  texts: readonly string[],
  order: readonly string[],
  range: ScanRange,
  limit: number,
): string {
  const [only = '', ...others] = texts
  if (others.length === 0) return only
  const all = texts.map((text, at) => `select * from (${text}) s${at}`).join(' union all ')
  return `select * from (${all}) u order by ${orderOf('u', order, range)} limit ${limit}`
}

export function orderOf(row: string, columns: readonly string[], { isNewestFirst }: ScanRange): string {
  return columns.map((column) => `${row}.${column} ${isNewestFirst ? 'desc' : 'asc'}`).join(', ')
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

/** One lower and one upper bound, each a comparison of whole index rows: PostgreSQL begins and ends the scan there. */
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
