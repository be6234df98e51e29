import type { Page } from '../ports/dispatch-store.ts'

/**
 * One page of rows that are kept in the order in which they came. The cursor is the place of the next row, which stays
 * right while rows are added at the end; one that is not ours starts from the beginning.
 */
export function pageOf<T>(
  rows: readonly T[],
  first: 'oldest' | 'newest',
  limit: number,
  cursor: string | undefined,
): Page<T> {
  const step = first === 'oldest' ? 1 : -1
  const items: T[] = []
  let at = startOf(rows, first, cursor)
  for (; items.length < limit; at += step) {
    const row = rows[at]
    if (row === undefined) return { items }
    items.push(row)
  }
  return rows[at] === undefined ? { items } : { items, nextCursor: String(at) }
}

function startOf(rows: readonly unknown[], first: 'oldest' | 'newest', cursor: string | undefined): number {
  if (cursor !== undefined && /^\d{1,15}$/.test(cursor)) return Number(cursor)
  return first === 'oldest' ? 0 : rows.length - 1
}
