import { declarationOf, type Kind } from '../../engine/kinds.ts'
import type { Prefix, Records, Scan, Scanned, ScannedRecord, Value } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { Parameters } from '../dialects/statements.ts'
import {
  columnsOf,
  comparePositions,
  convertRow,
  indexColumns,
  type KindColumn,
  type Row,
  readValue,
} from '../tables/record-columns.ts'
import {
  boundsOf,
  hasRival,
  isLeftOut,
  type Plan,
  type RangeScan,
  rangeText,
  scanText,
  unknownColumns,
} from './scan-text.ts'

/** Ranges of one statement: SQLite takes at most 500. */
const MAX_RANGES = 100

/** More rows are looked at in parts: those that match may come first. */
const MAX_AT_ONCE = 2_500
const GROWTH = 4

/** Reads parts of indexes, each by one index whatever the statistics are. */
export function recordScanner(db: Database): Records['scan'] {
  return async <Name extends Kind>(scan: Scan<Name>): Promise<Scanned<Name>> => {
    const { limit, most = 0, where = [] } = scan
    if (most <= MAX_AT_ONCE || where.length === 0) return scanOnce(scan, db)
    const found: ScannedRecord<Name>[] = []
    let seen = 0
    let after = scan.after
    for (let size = limit; ; size *= GROWTH) {
      const some = Math.min(size, most - seen)
      const left = limit - found.length
      const part = await scanOnce({ ...scan, ...(after && { after }), limit: left, most: some }, db)
      found.push(...part.found)
      seen += some
      after = part.last
      if (!after || found.length >= limit || seen >= most) return { found, ...(after && { last: after }) }
    }
  }
}

async function scanOnce<Name extends Kind>(scan: Scan<Name>, db: Database): Promise<Scanned<Name>> {
  const { limit, most = Number.POSITIVE_INFINITY } = scan
  const plan = planOf(scan)
  const amount = Math.trunc(plan.isMarking ? most : Math.min(limit, most))
  if (plan.ranges.length === 0 || amount <= 0) return { found: [] }
  const looked = await lookAt(plan, amount, db)
  if (!looked) return scanOnce({ ...scan, columns: [...(scan.columns ?? []), ...plan.at.map(({ name }) => name)] }, db)
  const { rows, hasMore } = looked
  const found: ScannedRecord<Name>[] = []
  let seen = 0
  for (const row of rows) {
    if (found.length >= limit) break
    seen++
    if (plan.isMarking && Number(row.fits) !== 1) continue
    const record = recordOf(plan, plan.isMarking ? withoutMark(row) : row)
    found.push({ record: record as never, at: placeIn(plan, record) })
  }
  const last = rows[seen - 1]
  const isCut = seen < rows.length || hasMore
  return { found, ...(isCut && last && { last: positionOf(plan, last) }) }
}

/** Parts of a plan that all scans with the same columns share. */
interface Shape {
  readonly leading: readonly string[]
  readonly order: readonly string[]
  readonly at: readonly KindColumn[]
  readonly places: readonly KindColumn[]
  readonly columns: readonly KindColumn[]
  /** The index has all columns of the key. */
  readonly hasKey: boolean
  readonly head: number
}

const SHAPES = new Map<string, Shape>()

function shapeOf({ kind, by = kind, index, with: [prefix], columns }: Scan): Shape {
  const length = prefix?.length ?? 0
  const shape = `${kind} ${by} ${index} ${length} ${columns?.join() ?? 'all'}`
  const known = SHAPES.get(shape)
  if (known) return known
  const { key } = declarationOf(by)
  const indexed = indexColumns(by, index)
  const [leading, rest] = [indexed.slice(0, length), indexed.slice(length)]
  const at = [...new Set([...rest, ...key])]
  const order = rest.length > 0 ? rest : at
  const names = columns && [...indexed, ...order, ...columns]
  const whole = at.flatMap((name) => columnsOf(by, [name]))
  const places = whole.filter(({ name }) => names === undefined || names.includes(name))
  const made: Shape = {
    ...{ leading, order, head: headOf(by, index, leading, order), at: whole },
    places: places.length === whole.length ? whole : places.slice(0, order.length),
    columns: columnsRead(kind, by, at, names),
    hasKey: key.every((name) => indexed.includes(name)),
  }
  SHAPES.set(shape, made)
  return made
}

/** The columns of the kind, and those of positions. */
function columnsRead(
  kind: Kind,
  by: Kind,
  at: readonly string[],
  names: readonly string[] | undefined,
): readonly KindColumn[] {
  const own = columnsOf(kind, names)
  const others = columnsOf(by, names ? at.filter((name) => names.includes(name)) : at)
  return by === kind ? own : [...own, ...others.filter(({ name }) => own.every((column) => column.name !== name))]
}

function headOf(kind: Kind, index: string | undefined, leading: readonly string[], order: readonly string[]): number {
  return leading.length > 0 && hasRival(kind, index, leading, order) ? 1 : 0
}

function planOf(scan: Scan): Plan {
  const { kind, by = kind, index, isReverse = false, where: filters = [], most, until, after } = scan
  // An empty position has no records before or after it.
  const prefixes = until?.length === 0 || after?.length === 0 ? [] : scan.with
  const { leading, order, at, places, columns, hasKey, head } = shapeOf(scan)
  const bounds = boundsOf(scan)
  const unique = prefixes.length > 1 ? new Map(prefixes.map((one) => [JSON.stringify(one), one])).values() : prefixes
  const names = at.map(({ name }) => name)
  const isOfTexts = at[0]?.isNumber === false
  const all = [...unique].map(
    (prefix): RangeScan => ({ leading, prefix, head, order, isOfTexts, at: names, isReverse, bounds }),
  )
  const ranges = scan.after === undefined ? all : all.filter((range) => !isLeftOut(range))
  // Scans by expiry are not continued: they need no order among records of one instant, of which there may be many.
  const isFirst = index === 'expiring' && scan.after === undefined
  const isWhole = order.length === at.length || (ranges.length === 1 && (hasKey || (isFirst && places === at)))
  const isMarking = filters.length > 0 && most !== undefined
  const shape = { order, at, places, columns, isReverse, filters, isMarking, isWhole }
  return { kind, by, index, ranges, ...shape, known: knownIn(ranges) }
}

function knownIn([range, ...others]: readonly RangeScan[]): Row {
  if (!range || others.length > 0) return {}
  return Object.fromEntries(range.leading.map((name, at) => [name, range.prefix[at]]))
}

interface Looked {
  /** In order. */
  readonly rows: readonly Row[]
  /** There may be more after them. */
  readonly hasMore: boolean
}

/**
 * Reads rows in the order of their positions. A statement only has the order of the index: rows that are equal in it are sorted here, and if
 * some of them lie beyond the last one, all of these are read by their keys.
 * @returns `undefined`: some are equal, and their keys were not read.
 */
async function lookAt(plan: Plan, amount: number, db: Database): Promise<Looked | undefined> {
  if (plan.isMarking && plan.by === plan.kind && plan.at.length === 1 && plan.ranges.length === 1)
    return sweep(plan, amount, db)
  if (plan.isWhole) {
    const rows = await readRows(plan, amount, db)
    return { rows, hasMore: rows.length >= amount }
  }
  const read = await readRows(plan, amount + 1, db)
  const isEqual = (one: Row | undefined, other: Row | undefined): boolean => {
    for (const name of plan.order) if (one?.[name] !== other?.[name]) return false
    return true
  }
  const hasEqual = read.some((row, nth) => nth > 0 && isEqual(read[nth - 1], row))
  if (hasEqual && plan.places !== plan.at) return undefined
  const rows = hasEqual ? sorted(plan, read) : read
  if (rows.length <= amount) return { rows, hasMore: false }
  const last = rows[amount - 1]
  if (!isEqual(last, rows[amount])) return { rows: rows.slice(0, amount), hasMore: true }
  const first = rows.findIndex((row) => isEqual(row, last))
  const values = positionOf(plan, last as Row).slice(0, plan.order.length)
  const equal = sorted(plan, await readRows(equalTo(plan, values), amount - first, db))
  return { rows: [...rows.slice(0, first), ...equal.slice(0, amount - first)], hasMore: true }
}

/**
 * Reads the rows that match among the first ones by a key of one column, and the key of the last one: of many rows, few match. That row has
 * the number of all as `swept`.
 */
async function sweep(plan: Plan, amount: number, db: Database): Promise<Looked> {
  const { dialect } = db
  const parameters = new Parameters(dialect)
  const key = plan.at[0]?.name
  const columns = unknownColumns(plan)
  const names = columns.map(({ name }) => name)
  const part = rangeText(plan, amount, parameters, db)
  const last = columns.map((column) => {
    const own = dialect.quote(column.name)
    if (column.name === key) return `${plan.isReverse ? 'min' : 'max'}(a.${own})`
    return dialect.none(column.isNumber)
  })
  const text = `with p as (${part})
    select ${names.map((name) => `p.${dialect.quote(name)}`).join(', ')}, p.fits, 0 as swept from p where p.fits = 1
    union all select ${last.join(', ')}, 0, count(*) from p a`
  const rows = await db.scan<Row>(text, parameters.values)
  const end = rows.find(({ swept }) => Number(swept) > 0)
  const found = rows.filter(({ fits }) => Number(fits) === 1).map(({ swept: _, ...row }) => row)
  return { rows: [...sorted(plan, found), ...(end ? [end] : [])], hasMore: Number(end?.swept ?? 0) >= amount }
}

/** Rows in the order of their positions. */
function sorted(plan: Plan, rows: readonly Row[]): readonly Row[] {
  const sign = plan.isReverse ? -1 : 1
  const placed = rows.map((row) => ({ row, at: positionOf(plan, row) }))
  return placed.sort((one, other) => sign * comparePositions(one.at, other.at)).map(({ row }) => row)
}

/** The rows that are equal in the order of the index, by their keys. */
function equalTo(plan: Plan, values: Prefix): Plan {
  const { order, at } = plan
  const left = at.slice(order.length).map(({ name }) => name)
  const ranges = plan.ranges.map((range): RangeScan => {
    const { after } = range.bounds
    const isWithin = after && after.values.length > order.length && comparePositions(after.values, values) === 0
    const bounds = isWithin ? { after: { ...after, values: after.values.slice(order.length) } } : {}
    return {
      ...range,
      head: range.head + order.length,
      leading: [...range.leading, ...order],
      prefix: [...range.prefix, ...values],
      order: [],
      at: left,
      bounds,
    }
  })
  return { ...plan, ranges, order: left }
}

async function readRows(plan: Plan, amount: number, db: Database): Promise<readonly Row[]> {
  if (plan.ranges.length <= MAX_RANGES) return readRanges(plan, amount, db)
  const rows: Row[] = []
  for (let at = 0; at < plan.ranges.length; at += MAX_RANGES)
    rows.push(...(await readRanges({ ...plan, ranges: plan.ranges.slice(at, at + MAX_RANGES) }, amount, db)))
  return sorted(plan, rows).slice(0, amount)
}

function readRanges(plan: Plan, amount: number, db: Database): Promise<readonly Row[]> {
  const parameters = new Parameters(db.dialect)
  const text = scanText(plan, amount, parameters, db)
  return db.scan<Row>(text, parameters.values)
}

/** @param row It is not shared. */
function recordOf({ columns, known }: Plan, row: Row): Row {
  const record: Record<string, unknown> = row
  for (const name in known) record[name] = known[name]
  return convertRow(columns, record)
}

function withoutMark({ fits: _, ...row }: Row): Row {
  return row
}

function placeIn({ places }: Plan, record: Row): Prefix {
  const place: Value[] = []
  for (const { name } of places) place.push(record[name] as Value)
  return place
}

function positionOf({ places, known }: Plan, row: Row): Prefix {
  return places.map((column) => (known[column.name] ?? readValue(column, row[column.name])) as Value)
}
