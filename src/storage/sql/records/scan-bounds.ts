import { declarationOf, type Kind } from '../../engine/kinds.ts'
import type { Prefix, Scan, Value } from '../../engine/records.ts'
import { type Dialect, type Parameters, sameEach } from '../dialects/dialects.ts'
import { comparePositions } from './positions.ts'

/** A bound of whole numbers and texts, as the columns have them. */
export function wholeNumber(value: number, round: (value: number) => number): number {
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
export function boundsText(scan: RangeScan, parameters: Parameters, dialect: Dialect): readonly string[] {
  return dialect.name === 'postgresql' ? rowBounds(scan, parameters, dialect) : keyBounds(scan, parameters, dialect)
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
export function orderColumns({ leading, head, order }: RangeScan, { name }: Dialect): readonly string[] {
  return name === 'postgresql' ? [...leading.slice(leading.length - head), ...order] : order
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
