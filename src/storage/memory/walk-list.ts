import type { SortedList } from './sorted-list.ts'

/** Where a row stands in a list: by when it was created, and then by when it was taken in. */
export interface ListPosition {
  readonly at: number
  readonly place: number
}

/** Which part of a list is read, and from where. */
export interface ListRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly cursor?: string | undefined
}

export function isPlacedBelow(one: ListPosition, other: ListPosition): boolean {
  return one.at < other.at || (one.at === other.at && one.place < other.place)
}

/** The place of a row that a page ends with: it stays right while rows come, go and change. */
export function cursorAt({ at, place }: ListPosition): string {
  return `${at} ${place}`
}

/** The rows of a list from its cursor on. One that is not ours starts from the beginning. What is out of the range is not read. */
export function* walkList<T>(
  list: SortedList<T>,
  placeOf: (row: T) => ListPosition,
  first: 'oldest' | 'newest',
  { since, until, cursor }: ListRange,
): Generator<T, void, undefined> {
  const last = readCursor(cursor)
  if (first === 'oldest') {
    const from = (row: T): boolean => {
      const place = placeOf(row)
      return (since !== undefined && place.at < since) || (last !== undefined && !isPlacedBelow(last, place))
    }
    for (const row of list.up(from)) {
      if (until !== undefined && placeOf(row).at >= until) return
      yield row
    }
    return
  }
  const descendants = (row: T): boolean => {
    const place = placeOf(row)
    return (until === undefined || place.at < until) && (last === undefined || isPlacedBelow(place, last))
  }
  for (const row of list.down(descendants)) {
    if (since !== undefined && placeOf(row).at < since) return
    yield row
  }
}

function readCursor(cursor: string | undefined): ListPosition | undefined {
  const [, at, place] = /^(\d{1,16}(?:\.\d{1,9})?) (\d{1,15})$/.exec(cursor ?? '') ?? []
  return at === undefined || place === undefined ? undefined : { at: Number(at), place: Number(place) }
}
