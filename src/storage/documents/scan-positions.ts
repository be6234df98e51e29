import type { Prefix, Scan } from '../engine/records.ts'
import { type Order, partsAfter, positionColumns, type Row } from './record-keys.ts'

/** Position of a record among the merged prefixes of a scan: by `end`, then by `prefixKey`. */
export interface Place {
  /** End of its document's key, after the prefix. */
  readonly end: string
  /** Values of the columns that are in both the prefix and the record's key. They tell records of several prefixes with equal ends apart. */
  readonly prefixKey: string
}

/** A position that a scan names. */
export interface Boundary extends Place {
  /** `end` is only the start of ends: the boundary is equal to all places whose ends begin so. */
  readonly isStart: boolean
}

/** Part of an order. */
export interface Bounds {
  readonly from: Boundary | undefined
  readonly until: Boundary | undefined
  readonly after: Boundary | undefined
  readonly isReverse: boolean
}

export async function boundsOf(order: Order, { with: prefixes, from, until, after, isReverse }: Scan): Promise<Bounds> {
  const length = prefixes[0]?.length ?? 0
  const [lower, upper, start] = await Promise.all(
    [from, until, after].map((position) => boundaryOf(order, length, position)),
  )
  return { from: lower, until: upper, after: start, isReverse: isReverse ?? false }
}

/** The {@link Place.prefixKey} of a record in a scan of prefixes of `length` columns. */
export function prefixKeyOf(order: Order, length: number, row: Row): Promise<string> {
  const ofPrefix = order.columns.slice(0, length)
  const columns = positionColumns(order, length).filter((column) => ofPrefix.includes(column))
  return partsAfter({ ...order, columns, others: [] }, 0, row)
}

/** An empty position is none. @throws {Error} If it ends within the columns of the record's key that share a part. */
async function boundaryOf(order: Order, length: number, position: Prefix = []): Promise<Boundary | undefined> {
  if (position.length === 0) return undefined
  const columns = positionColumns(order, length)
  const row: Row = Object.fromEntries(columns.slice(0, position.length).map((column, at) => [column, position[at]]))
  if (position.length >= columns.length) {
    const [end, prefixKey] = await Promise.all([partsAfter(order, length, row), prefixKeyOf(order, length, row)])
    return { end, prefixKey, isStart: false }
  }
  const ofOrder = order.columns.length - length
  if (position.length > ofOrder) throw new Error(`A position of ${order.name} has a part of the record's key`)
  const given = order.columns.slice(0, length + position.length)
  const end = await partsAfter({ ...order, columns: given, others: [] }, length, row)
  const isStart = position.length < ofOrder || order.others.length > 0
  return { end: isStart ? `${end}/` : end, prefixKey: '', isStart }
}

export function comparePlaces(one: Place, other: Place): number {
  return compareTexts(one.end, other.end) || compareTexts(one.prefixKey, other.prefixKey)
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** 0: the leading columns of the place are equal to the boundary. Without the record's key it is equal to all with its end. */
function compareTo(place: Place, { end, prefixKey, isStart }: Boundary): number {
  if (isStart) return place.end.startsWith(end) ? 0 : compareTexts(place.end, end)
  return compareTexts(place.end, end) || (prefixKey === '' ? 0 : compareTexts(place.prefixKey, prefixKey))
}

/** Whether a place is in the bounds; `'before'` and `'past'` in the direction of the scan. */
export function whereIs(place: Place, { from, until, after, isReverse }: Bounds): 'before' | 'in' | 'past' {
  const isBelow = from !== undefined && compareTo(place, from) < 0
  const isAbove = until !== undefined && compareTo(place, until) >= 0
  if (isReverse ? isBelow : isAbove) return 'past'
  if (isReverse ? isAbove : isBelow) return 'before'
  const fromAfter = after === undefined ? 1 : compareTo(place, after) * (isReverse ? -1 : 1)
  return fromAfter > 0 ? 'in' : 'before'
}

/**
 * End of the key after which a list begins, in the direction of the scan. The list may begin with a few records that are before the
 * bounds. `prefixKey`: that of all records of the list.
 */
export function startOf({ from, until, after, isReverse }: Bounds, prefixKey: string): string | undefined {
  const first = isReverse ? until : from
  const mayBeAfter = after !== undefined && after.prefixKey !== '' && after.prefixKey !== prefixKey
  const starts = [
    first && (isReverse ? upperStart(first, true) : lowerStart(first, true)),
    after && (isReverse ? upperStart(after, mayBeAfter) : lowerStart(after, mayBeAfter)),
  ].filter((start) => start !== undefined)
  return starts.sort().at(isReverse ? 0 : -1)
}

/** `/` is followed by `0` in the order of ASCII. Ends that begin with a start have more characters, so none equals it. */
function lowerStart({ end, isStart }: Boundary, isInclusive: boolean): string {
  if (isStart) return isInclusive ? end : `${end.slice(0, -1)}0`
  return isInclusive ? end.slice(0, -1) : end
}

/** `-` is the first character of keys. */
function upperStart({ end, isStart }: Boundary, isInclusive: boolean): string {
  return isStart || !isInclusive ? end : `${end}-`
}
