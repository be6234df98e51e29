import type { Kind } from '../../engine/kinds.ts'
import type { Filter } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { lookUp, type Parameters, sameEach } from '../dialects/dialects.ts'
import type { KindColumn, Row } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'
import { boundsText, orderColumns, type RangeScan } from './scan-bounds.ts'
import { filterText } from './scan-filters.ts'

/** A scan, prepared for statements. */
export interface Plan {
  readonly kind: Kind
  readonly index: string | undefined
  readonly ranges: readonly RangeScan[]
  /** Columns of the index after the prefix; if there are none, of the key. */
  readonly order: readonly string[]
  readonly at: readonly KindColumn[]
  readonly columns: readonly KindColumn[]
  readonly isReverse: boolean
  readonly filters: readonly Filter[]
  /** Rows that do not match are returned too, without their long columns: `fits` is then 0. */
  readonly isMarking: boolean
  /** The order is that of whole positions. */
  readonly isWhole: boolean
  /** Values that all records have: those of the prefix, if there is one. They are not read. */
  readonly known: Row
}

/** Reads the first rows of a scan, by its index alone. */
export function scanText(plan: Plan, amount: number, parameters: Parameters, db: Database): string {
  return plan.ranges.length === 1 ? rangeText(plan, amount, parameters, db) : joinedText(plan, amount, parameters, db)
}

/** One range, with all columns. */
export function rangeText(plan: Plan, amount: number, parameters: Parameters, db: Database): string {
  const [range] = plan.ranges
  if (!range) return ''
  return partText(plan, range, selectText(plan, columnsRead(plan), parameters, db), amount, parameters, db)
}

/** All columns but those of the prefix. */
export function columnsRead({ columns, known }: Plan): readonly KindColumn[] {
  const unknown = columns.filter(({ name }) => known[name] === undefined)
  return unknown.length > 0 ? unknown : columns
}

/** Merges the places of several ranges first; then reads only the rows among the first ones. */
function joinedText(plan: Plan, amount: number, parameters: Parameters, db: Database): string {
  const { dialect, nameOf } = db
  const { kind, isReverse } = plan
  const isShort = !plan.isMarking && plan.columns.every(({ isLong }) => !isLong)
  const shown = isShort ? '' : selectText(plan, plan.columns, parameters, db)
  const columns = isShort ? plan.columns : plan.at
  const place = columns.map(({ name }) => `r.${dialect.quote(name)}`).join(', ')
  const texts = plan.ranges.map((range) => partText(plan, range, place, amount, parameters, db))
  const places = mergedText(texts, plan.order, isReverse, amount)
  if (isShort) return places
  const { hasRivals, primaryKey } = TABLES[kind]
  const [own, given] = ['r', 'p'].map((alias) => primaryKey.map((name) => `${alias}.${dialect.quote(name)}`))
  const on = (hasRivals ? dialect.sameRow : sameEach)(own ?? [], given ?? [])
  const found = lookUp({ table: kind, alias: 'r', on }, dialect, nameOf)
  return `select ${shown} from (${places}) p ${found} order by ${orderOf('p', plan.order, isReverse)}`
}

/** The first rows `r` of a range. MySQL and SQLite get an index hint. On PostgreSQL, only one index has the order. */
function partText(
  plan: Plan,
  range: RangeScan,
  columns: string,
  amount: number,
  parameters: Parameters,
  db: Database,
): string {
  const { kind, index, filters, isMarking, isReverse } = plan
  const { dialect, nameOf } = db
  const { indexes } = TABLES[kind]
  const present = indexes.find(({ name }) => name === index)?.present
  const where = [
    ...(present === undefined ? [] : [`r.${dialect.quote(present)} is not null`]),
    ...boundsText(range, parameters, dialect),
    ...(isMarking || filters.length === 0 ? [] : [filterText(filters, parameters, db)]),
  ]
  const sorted = [...new Set([...orderColumns(range, dialect), ...plan.order])]
  return `select ${columns} from ${nameOf(kind)} r${dialect.along(nameOf.index(kind, index))}${
    where.length > 0 ? ` where ${where.join(' and ')}` : ''
  } order by ${orderOf('r', sorted, isReverse)} limit ${amount}`
}

/** Columns of a row `r`; the long ones only if it matches. */
function selectText(plan: Plan, columns: readonly KindColumn[], parameters: Parameters, db: Database): string {
  const { quote } = db.dialect
  if (!plan.isMarking) return columns.map(({ name }) => `r.${quote(name)} as ${quote(name)}`).join(', ')
  const ifFits = (value: string, otherwise: string): string =>
    `case when ${filterText(plan.filters, parameters, db)} then ${value}${otherwise} end`
  const texts = columns.map(({ name, isLong }) => {
    const value = `r.${quote(name)}`
    return `${isLong ? ifFits(value, '') : value} as ${quote(name)}`
  })
  return `${texts.join(', ')}, ${ifFits('1', ' else 0')} as fits`
}

function mergedText(texts: readonly string[], order: readonly string[], isReverse: boolean, amount: number): string {
  const all = texts.map((text, at) => `select * from (${text}) s${at}`).join(' union all ')
  return `select * from (${all}) u order by ${orderOf('u', order, isReverse)} limit ${amount}`
}

function orderOf(row: string, columns: readonly string[], isReverse: boolean): string {
  return columns.map((column) => `${row}.${column} ${isReverse ? 'desc' : 'asc'}`).join(', ')
}
