import type { SortedList } from './sorted-list.ts'

/** Rows read for one page. A filter with few matches ends its page early, so that it does not block the event loop. */
export const MAX_SCANNED = 2_500

/** Order of a row in lists: creation time, then order of insertion. */
export interface ListPosition {
  readonly at: number
  readonly sequence: number
}

export interface ListRange {
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly cursor?: string | undefined
}

export function isListedBelow(one: ListPosition, other: ListPosition): boolean {
  return one.at < other.at || (one.at === other.at && one.sequence < other.sequence)
}

/** Cursor for keyset pagination: the position of the last row. It stays valid while rows are added and removed. */
export function cursorAt({ at, sequence }: ListPosition): string {
  return `${at} ${sequence}`
}

/** Rows of a list after its cursor. An unknown cursor starts from the beginning. */
export function* readRange<T>(
  list: SortedList<T>,
  positionOf: (row: T) => ListPosition,
  first: 'oldest' | 'newest',
  { since, until, cursor }: ListRange,
): Generator<T, void, undefined> {
  const last = readCursor(cursor)
  if (first === 'oldest') {
    const isBefore = (row: T): boolean => {
      const position = positionOf(row)
      return (since !== undefined && position.at < since) || (last !== undefined && !isListedBelow(last, position))
    }
    for (const row of list.up(isBefore)) {
      if (until !== undefined && positionOf(row).at >= until) return
      yield row
    }
    return
  }
  const isLeft = (row: T): boolean => {
    const position = positionOf(row)
    return (until === undefined || position.at < until) && (last === undefined || isListedBelow(position, last))
  }
  for (const row of list.down(isLeft)) {
    if (since !== undefined && positionOf(row).at < since) return
    yield row
  }
}

function readCursor(cursor: string | undefined): ListPosition | undefined {
  const [, at, sequence] = /^(\d{1,16}(?:\.\d{1,9})?) (\d{1,15})$/.exec(cursor ?? '') ?? []
  return at === undefined || sequence === undefined ? undefined : { at: Number(at), sequence: Number(sequence) }
}
