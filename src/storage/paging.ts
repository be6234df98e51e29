import type { Page } from '../ports/dispatch-store.ts'

/** Looked at for one page at most, so that a list of which little fits does not hold up everything else. */
const MAX_SEEN = 10_000

/**
 * One page of rows that are kept in the order in which they came. The cursor is the place of the next row, which stays
 * right while rows are added at the end; one that is not ours starts from the beginning. Rows that do not fit are passed
 * over, and where there are very many of them the page ends early.
 */
export function pageOf<T>(
  rows: readonly T[],
  first: 'oldest' | 'newest',
  limit: number,
  cursor: string | undefined,
  fits: (row: T) => boolean = () => true,
): Page<T> {
  const step = first === 'oldest' ? 1 : -1
  const items: T[] = []
  let at = startOf(rows, first, cursor)
  for (let seen = 0; ; at += step, seen++) {
    const row = rows[at]
    if (row === undefined) return { items }
    if (seen >= MAX_SEEN) break
    if (!fits(row)) continue
    if (items.length >= limit) break
    items.push(row)
  }
  return { items, nextCursor: String(at) }
}

function startOf(rows: readonly unknown[], first: 'oldest' | 'newest', cursor: string | undefined): number {
  if (cursor !== undefined && /^\d{1,15}$/.test(cursor)) return Number(cursor)
  return first === 'oldest' ? 0 : rows.length - 1
}
