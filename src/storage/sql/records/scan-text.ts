import { declarationOf, type Kind } from '../../engine/kinds.ts'
import type { Filter, Prefix, Scan, Value } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { type Dialect, sameEach } from '../dialects/dialects.ts'
import { lookUp, type Parameters, tableAlong } from '../dialects/statements.ts'
import { comparePositions, type KindColumn, type Row } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'

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

/** A bound of whole numbers and texts, as the columns have them. */
function wholeNumber(value: number, round: (value: number) => number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, round(value)))
}

function whole(values: Prefix, round: (value: number) => number): Prefix {
  return values.map((value) => (typeof value === 'number' ? wholeNumber(value, round) : value))
}

/** A part of an index: the records with one prefix. */
export interface RangeScan {
  /** Columns of the prefix. */
  readonly leading: readonly string[]
  readonly prefix: Prefix
  /** Number of the last columns of the prefix that belong to the order on PostgreSQL: only this index then has it. */
  readonly head: number
  /** Columns of the index after the prefix. */
  readonly order: readonly string[]
  /** The first column of the order has texts. */
  readonly isOfTexts: boolean
  /** {@link order}, then the columns of the key that are not in it. */
  readonly at: readonly string[]
  readonly isReverse: boolean
  readonly bounds: Bounds
}

interface Bounds {
  readonly from?: Bound
  readonly until?: Bound
  /** May have more columns than the order. */
  readonly after?: Bound
}

interface Bound {
  readonly sign: '>' | '>=' | '<' | '<='
  readonly values: Prefix
}

/** The narrowest lower and upper bound; `after` may repeat one of them. */
export function boundsOf({
  from,
  until,
  after,
  isReverse = false,
}: Pick<Scan, 'from' | 'until' | 'after' | 'isReverse'>): Bounds {
  const lower: Bound | undefined = from && { sign: '>=', values: whole(from, Math.ceil) }
  const upper: Bound | undefined = until && { sign: '<', values: whole(until, Math.ceil) }
  const next: Bound | undefined = after && {
    sign: isReverse ? '<' : '>',
    values: whole(after, isReverse ? Math.ceil : Math.floor),
  }
  return {
    ...(lower && lower.values.length > 0 && { from: lower }),
    ...(upper && { until: upper }),
    ...(next && { after: next }),
  }
}

/** Conditions on a row `r`, as SQL. Binds parameters in the order of the text. */
function boundsText(scan: RangeScan, parameters: Parameters, dialect: Dialect): readonly string[] {
  return dialect.comparesIndexRows ? rowBounds(scan, parameters, dialect) : keyBounds(scan, parameters, dialect)
}

/** Whether `after` is at least as narrow as the other bound of its side. */
function isNarrower(after: Bound, other: Bound | undefined): boolean {
  if (!other) return true
  const order = comparePositions(after.values, other.values)
  return after.sign === '>' ? order >= 0 : order < 0 || (order === 0 && after.values.length <= other.values.length)
}

interface Sides {
  readonly lower: Bound | undefined
  readonly upper: Bound | undefined
  /** A bound by more columns than the index has. */
  readonly whole: Bound | undefined
}

/** One bound for each side, by columns of the order, and what they do not cover. */
function sidesOf(scan: RangeScan): Sides {
  const { order, at, bounds } = scan
  const { from, until } = bounds
  const after = bounds.after && withoutPrefix(bounds.after, scan)
  if (!after) return { lower: from, upper: until, whole: undefined }
  const isLower = after.sign === '>'
  const other = isLower ? from : until
  if (!isNarrower(after, other)) return { lower: from, upper: until, whole: undefined }
  const isLong = after.values.length > order.length && at.length > order.length
  const values = after.values.slice(0, order.length)
  const sign = isLong ? (isLower ? '>=' : '<=') : after.sign
  const own: Bound | undefined = values.length > 0 ? { sign, values } : undefined
  const whole = isLong ? after : undefined
  return isLower ? { lower: own, upper: until, whole } : { lower: from, upper: own, whole }
}

/** Leaves out columns at the end that are equal in all records of the prefix. */
function withoutPrefix({ sign, values }: Bound, { leading, prefix, at }: RangeScan): Bound {
  let length = values.length
  const isSame = (nth: number): boolean => {
    const place = leading.indexOf(at[nth] ?? '')
    return place >= 0 && prefix[place] === values[nth]
  }
  while (length > 0 && isSame(length - 1)) length--
  return { sign, values: values.slice(0, length) }
}

/** Whether all records of the prefix are at the position that the scan leaves out. */
export function isLeftOut(scan: RangeScan): boolean {
  const { after } = scan.bounds
  return after !== undefined && withoutPrefix(after, scan).values.length === 0
}

function columnText(name: string, { quote }: Dialect): string {
  return `r.${quote(name)}`
}

function rowText(columns: readonly string[], bound: Bound, parameters: Parameters, dialect: Dialect): string {
  const names = columns.slice(0, bound.values.length).map((name) => columnText(name, dialect))
  const given = bound.values.map((value: Value) => parameters.add(value))
  if (names.length === 1) return `${names[0]} ${bound.sign} ${given[0]}`
  return `(${names.join(', ')}) ${bound.sign} (${given.join(', ')})`
}

function keyBounds(scan: RangeScan, parameters: Parameters, dialect: Dialect): readonly string[] {
  const { leading, prefix, order, at } = scan
  const { lower, upper, whole } = sidesOf(scan)
  const same = prefix.map((value, nth) => sameEach([columnText(leading[nth] ?? '', dialect)], [parameters.add(value)]))
  const bounds = [lower, upper].flatMap((bound) => {
    if (!bound) return []
    if (bound.values.length === 1) return [rowText(order, bound, parameters, dialect)]
    // MySQL limits its range by a comparison of one column alone.
    const first: Bound = { sign: bound.sign.startsWith('>') ? '>=' : '<=', values: bound.values.slice(0, 1) }
    return [rowText(order, first, parameters, dialect), rowText(order, bound, parameters, dialect)]
  })
  const conditions = [...same, ...bounds, ...(whole ? [rowText(at, whole, parameters, dialect)] : [])]
  // Shows in the plan of SQLite as a search by the index, not as a scan of all rows.
  const isShown = conditions.length > 0 || !scan.isOfTexts
  return isShown ? conditions : [`${columnText(order[0] ?? '', dialect)} >= ''`]
}

/**
 * One lower and one upper bound as comparisons of whole index rows: PostgreSQL limits the scan by them. It does not know that a column of the
 * head is the same in all rows.
 */
function rowBounds(scan: RangeScan, parameters: Parameters, dialect: Dialect): readonly string[] {
  const { leading, prefix, head: inOrder, order, at } = scan
  const { lower, upper, whole } = sidesOf(scan)
  const equal = leading.length - inOrder
  const [head, values] = [leading.slice(equal), prefix.slice(equal)]
  const columns = [...head, ...order]
  const conditions = leading
    .slice(0, equal)
    .map((name, nth) => `${columnText(name, dialect)} = ${parameters.add(prefix[nth])}`)
  for (const [bound, sign] of [
    [lower, '>='],
    [upper, '<='],
  ] as const) {
    if (bound)
      conditions.push(rowText(columns, { ...bound, values: [...values, ...bound.values] }, parameters, dialect))
    else if (inOrder > 0) conditions.push(rowText(head, { sign, values }, parameters, dialect))
  }
  return whole ? [...conditions, rowText(at, whole, parameters, dialect)] : conditions
}

/** Columns by which PostgreSQL finds the index with the order. */
function orderColumns({ leading, head, order }: RangeScan, { comparesIndexRows }: Dialect): readonly string[] {
  return comparesIndexRows ? [...leading.slice(leading.length - head), ...order] : order
}

/** Whether another index has the order after columns of the prefix too, so that PostgreSQL might choose it. */
export function hasRival(
  kind: Kind,
  index: string | undefined,
  leading: readonly string[],
  order: readonly string[],
): boolean {
  const { key, indexes = {} } = declarationOf(kind)
  const others = Object.entries({ ...indexes, '': key }).filter(([name]) => name !== (index ?? ''))
  return others.some(([, columns]) => columns.find((column) => !leading.includes(column)) === order[0])
}

/**
 * Conditions on a row, as SQL. Binds parameters in the order of the text. Another record is looked up once, by a subquery for one value,
 * which no planner turns into a join.
 */
function filterText(row: string, filters: readonly Filter[], parameters: Parameters, db: Database): string {
  const texts: string[] = []
  for (const group of byRecord(filters)) {
    const [first] = group
    if (first?.of === undefined) texts.push(...group.map((filter) => oneText(row, filter, parameters, db)))
    else texts.push(otherText(row, group, first, first.of, parameters, db))
  }
  return texts.join(' and ')
}

/** Filters on the same record. */
function byRecord(filters: readonly Filter[]): readonly (readonly Filter[])[] {
  const groups = new Map<string, Filter[]>()
  for (const filter of filters) {
    const record = filter.of === undefined ? '' : JSON.stringify([filter.of, filter.key])
    const group = groups.get(record)
    if (group) group.push(filter)
    else groups.set(record, [filter])
  }
  return [...groups.values()]
}

function otherText(
  row: string,
  filters: readonly Filter[],
  { key: given }: Filter,
  kind: Kind,
  parameters: Parameters,
  db: Database,
): string {
  const { dialect, nameOf } = db
  const tests = filters.map((filter) => oneText('o', filter, parameters, db))
  const { key } = declarationOf(kind)
  const own = key.map((name) => `o.${dialect.quote(name)}`)
  const values = key.map((name) => {
    const known = given?.[name]
    return known === undefined ? `${row}.${dialect.quote(name)}` : parameters.add(known)
  })
  const { hasRivals } = TABLES[kind]
  const same = (hasRivals ? dialect.sameRow : sameEach)(own, values)
  const from = tableAlong({ table: kind, alias: 'o' }, dialect, nameOf)
  return `(select case when ${tests.join(' and ')} then 1 end from ${from} where ${same}) = 1`
}

function oneText(alias: string, filter: Filter, parameters: Parameters, db: Database): string {
  if (filter.column === undefined) return '1 = 1'
  return testText(`${alias}.${db.dialect.quote(filter.column)}`, filter, parameters, db)
}

/** An absent value passes no test: the condition is then null. */
function testText(value: string, filter: Filter, parameters: Parameters, { dialect }: Database): string {
  if ('in' in filter) {
    if (filter.in.length === 0) return '1 = 0'
    const [only, ...others] = filter.in
    if (others.length === 0) return `${value} = ${parameters.add(only)}`
    return `${value} in (${filter.in.map((one) => parameters.add(one)).join(', ')})`
  }
  if ('contains' in filter) return dialect.contains(value, parameters.add(filter.contains))
  if ('lacks' in filter) return `not (${dialect.contains(value, parameters.add(filter.lacks))})`
  if ('below' in filter) return `${value} < ${parameters.add(wholeNumber(filter.below, Math.ceil))}`
  return '1 = 1'
}
