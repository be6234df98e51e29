import type { Kind } from '../../engine/kinds.ts'
import type { Filter } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { type Dialect, lookUp, type Parameters, sameEach } from '../dialects/dialects.ts'
import type { KindColumn, Row } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'
import { boundsText, orderColumns, type RangeScan } from './scan-bounds.ts'
import { filterText } from './scan-filters.ts'

/** A scan, prepared for statements. */
export interface Plan {
  readonly kind: Kind
  /** The kind of the index. */
  readonly by: Kind
  readonly index: string | undefined
  readonly ranges: readonly RangeScan[]
  /** Columns of the index after the prefix; if there are none, of the key. */
  readonly order: readonly string[]
  readonly at: readonly KindColumn[]
  /** Those of `at` that are read: all, or the order alone, which tells records apart unless some are equal in it. */
  readonly places: readonly KindColumn[]
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
  return partText(plan, range, selectText(plan, unknownColumns(plan), 'r', parameters, db), amount, parameters, db)
}

/** All columns but those of the prefix. */
export function unknownColumns({ columns, known }: Plan): readonly KindColumn[] {
  const unknown = columns.filter(({ name }) => known[name] === undefined)
  return unknown.length > 0 ? unknown : columns
}

/** Merges the places of several ranges first; then reads only the rows among the first ones. */
function joinedText(plan: Plan, amount: number, parameters: Parameters, db: Database): string {
  const { dialect } = db
  const { isReverse } = plan
  const isShort = !plan.isMarking && plan.columns.every(({ isLong }) => !isLong)
  const shown = isShort ? '' : selectText(plan, plan.columns, 'p', parameters, db)
  const place = plainText(plan, isShort ? plan.columns : plan.at, 'r', dialect)
  const texts = plan.ranges.map((range) => partText(plan, range, place, amount, parameters, db))
  const places = mergedText(texts, plan.order, isReverse, amount)
  if (isShort) return places
  return `select ${shown} from (${places}) p ${recordText(plan, 'p', db)} order by ${orderOf('p', plan.order, isReverse)}`
}

/** Alias of the record; that of the entry of its index, `r`, unless this is of another kind. */
function recordAlias({ kind, by }: Plan): string {
  return kind === by ? 'r' : 'e'
}

/** Looks the record up by the columns of an entry. */
function recordText(plan: Plan, entry: string, { dialect, nameOf }: Database): string {
  const alias = recordAlias(plan)
  const { hasRivals, primaryKey } = TABLES[plan.kind]
  const columnsIn = (row: string): readonly string[] => primaryKey.map((name) => `${row}.${dialect.quote(name)}`)
  const on = (hasRivals ? dialect.sameRow : sameEach)(columnsIn(alias), columnsIn(entry))
  return lookUp({ table: plan.kind, alias, on }, dialect, nameOf)
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
  const { kind, by, index, filters, isMarking, isReverse } = plan
  const { dialect, nameOf } = db
  const { indexes } = TABLES[by]
  const present = indexes.find(({ name }) => name === index)?.present
  const where = [
    ...(present === undefined ? [] : [`r.${dialect.quote(present)} is not null`]),
    ...boundsText(range, parameters, dialect),
    ...(isMarking || filters.length === 0 ? [] : [filterText(recordAlias(plan), filters, parameters, db)]),
  ]
  const sorted = [...new Set([...orderColumns(range, dialect), ...plan.order])]
  const from = `${nameOf(by)} r${dialect.along(nameOf.index(by, index))}`
  const joined = by === kind ? from : `${from} ${recordText(plan, 'r', db)}`
  return `select ${columns} from ${joined}${
    where.length > 0 ? ` where ${where.join(' and ')}` : ''
  } order by ${orderOf('r', sorted, isReverse)} limit ${amount}`
}

/** Columns of records, and of their entries; the long ones only if the record matches. */
function selectText(
  plan: Plan,
  columns: readonly KindColumn[],
  entry: string,
  parameters: Parameters,
  db: Database,
): string {
  const { quote } = db.dialect
  if (!plan.isMarking) return plainText(plan, columns, entry, db.dialect)
  const ifFits = (value: string, otherwise: string): string =>
    `case when ${filterText(recordAlias(plan), plan.filters, parameters, db)} then ${value}${otherwise} end`
  const texts = columns.map((column) => {
    const value = valueText(plan, column, entry, db.dialect)
    return `${column.isLong ? ifFits(value, '') : value} as ${quote(column.name)}`
  })
  return `${texts.join(', ')}, ${ifFits('1', ' else 0')} as fits`
}

function plainText(plan: Plan, columns: readonly KindColumn[], entry: string, dialect: Dialect): string {
  return columns.map((one) => `${valueText(plan, one, entry, dialect)} as ${dialect.quote(one.name)}`).join(', ')
}

/** A column of a record. Those of positions are in its entry too. */
function valueText(plan: Plan, { name }: KindColumn, entry: string, { quote }: Dialect): string {
  const isInEntry = plan.kind !== plan.by && plan.at.some((column) => column.name === name)
  return `${isInEntry ? entry : recordAlias(plan)}.${quote(name)}`
}

function mergedText(texts: readonly string[], order: readonly string[], isReverse: boolean, amount: number): string {
  const all = texts.map((text, at) => `select * from (${text}) s${at}`).join(' union all ')
  return `select * from (${all}) u order by ${orderOf('u', order, isReverse)} limit ${amount}`
}

function orderOf(row: string, columns: readonly string[], isReverse: boolean): string {
  return columns.map((column) => `${row}.${column} ${isReverse ? 'desc' : 'asc'}`).join(', ')
}
