import type { Page } from '../../../ports/dispatch-query.ts'
import type { Table } from '../schema/columns.ts'
import type { TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { Database } from './database.ts'
import type { Parameters } from './dialects.ts'

export interface KeysetPosition {
  readonly at: number
  readonly id: string
}

export function cursorOf(at: number, id: string): string {
  return `${at} ${id}`
}

/** `undefined` for a missing or unknown cursor: the list starts from the beginning. */
export function positionOf(cursor: string | undefined): KeysetPosition | undefined {
  const [, at, id] = /^(\d{1,16}) (.+)$/s.exec(cursor ?? '') ?? []
  return at === undefined || id === undefined ? undefined : { at: Number(at), id }
}

/** Limit of rows read for one page: a page with few matches ends early, with a cursor. */
const MAX_READ = 2_500
const GROWTH = 4

export interface Entry<Item> {
  readonly cursor: string
  /** Absent if it does not match. */
  readonly item?: Item | undefined
}

export interface PageEntries<Item> {
  readonly entries: readonly Entry<Item>[]
  readonly isEnd: boolean
}

/**
 * Reads until a page is full and one more row matches, or no rows are left.
 * @param read Reads at most `amount` rows. May omit rows after the first `needed` matches.
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
        // The next page starts after the last match: skipped rows may match by then.
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

/** Part of one index in order of time: rows with equal keys, oldest or newest first. */
export interface IndexScan {
  readonly table: TableName
  /** The index with the columns `keys`, `at` and `id`, in this order. Absent: all rows are sorted. */
  readonly index?: string
  /** The primary key is that index. */
  readonly isPrimary?: true
  readonly keys: readonly (readonly [column: string, value: string])[]
  readonly at: string
  /** The column that distinguishes rows of one time. */
  readonly id: string
}

export interface ScanRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly isNewestFirst: boolean
  readonly after?: { readonly at: number; readonly id: string | number } | undefined
}

/**
 * Reads at most `limit` rows by one index, whatever the statistics are. MySQL and SQLite get an index hint. PostgreSQL does not know that
 * the key is the same in all rows, so only this index has the required order.
 * @param columns Columns of the row `r`.
 */
export function scanText(
  scan: IndexScan,
  range: ScanRange,
  columns: string,
  limit: number,
  parameters: Parameters,
  { dialect, nameOf }: Database,
): string {
  const { table, index, isPrimary = false, keys, at, id } = scan
  const isPostgres = dialect.name === 'postgresql'
  const { indexes }: Table = TABLES[table]
  const present = indexes.find(({ name }) => name === index)?.present
  const conditions = (isPostgres ? rowBounds(scan, range) : keyBounds(scan, range)).map(([text, ...values]) =>
    parameters.bind(text, values),
  )
  const where = [...(present === undefined ? [] : [`r.${present} is not null`]), ...conditions]
  const head = isPostgres ? keys.slice(1).map(([column]) => column) : []
  const isForced = !isPostgres && (index !== undefined || isPrimary)
  const forced = isForced ? dialect.along(nameOf.index(table, index)) : ''
  return `select ${columns} from ${nameOf(table)} r${forced}${
    where.length > 0 ? ` where ${where.join(' and ')}` : ''
  } order by ${orderOf('r', [...head, at, id], range)} limit ${limit}`
}

/** @param order The columns of the list's order. */
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
  const { keys, at, id } = scan
  const conditions = keys.map(([column, value]): Condition => [`r.${column} = ?`, value])
  if (since !== undefined) conditions.push([`r.${at} >= ?`, Math.ceil(since)])
  if (until !== undefined) conditions.push([`r.${at} < ?`, Math.ceil(until)])
  if (!after) return conditions
  const sign = isNewestFirst ? '<' : '>'
  conditions.push([`r.${at} ${sign}= ?`, after.at])
  conditions.push([`(r.${at} ${sign} ? or r.${id} ${sign} ?)`, after.at, after.id])
  return conditions
}

/** One lower and one upper bound as comparisons of whole index rows: PostgreSQL limits the scan by them. */
function rowBounds(scan: IndexScan, { since, until, isNewestFirst, after }: ScanRange): readonly Condition[] {
  const { keys, at, id } = scan
  const [first, second] = keys
  const conditions: Condition[] = first ? [[`r.${first[0]} = ?`, first[1]]] : []
  const head = second ? [second[0]] : []
  const values = second ? [second[1]] : []
  const bound = (sign: string, columns: readonly string[], given: readonly unknown[]): Condition => {
    const names = columns.map((column) => `r.${column}`).join(', ')
    return [`(${names}) ${sign} (${given.map(() => '?').join(', ')})`, ...given]
  }
  const goesOn = after && bound(isNewestFirst ? '<' : '>', [...head, at, id], [...values, after.at, after.id])
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
