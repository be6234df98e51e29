import type { Page } from '../../../ports/dispatch-query.ts'

/**
 * So many rows are read for one page at most, so that a page of a combination that little fits does not take forever: it then ends
 * early, with a cursor. A filter that stands alone has an index: every row that is read fits.
 */
const MAX_READ = 10_000
/** By so much more is read at once, where little of what was read fits. */
const GROWTH = 4

/** A row that was read, in the order of the list. */
export interface Entry<Item> {
  readonly cursor: string
  /** Absent: it does not fit. */
  readonly item?: Item | undefined
}

/** What was read from a cursor on. */
export interface PageEntries<Item> {
  readonly entries: readonly Entry<Item>[]
  /** Nothing follows. */
  readonly isEnd: boolean
}

/**
 * Reads until a page is full, and one more fits, or there is nothing left.
 *
 * @param read Reads so many rows at most, of which so many that fit are needed: it may leave out what follows these.
 */
export async function filledPage<Item>(
  limit: number,
  first: string | undefined,
  read: (cursor: string | undefined, amount: number, needed: number) => Promise<PageEntries<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = []
  let cursor = first
  let last = first
  let seen = 0
  for (let amount = limit + 1; ; amount = Math.min(amount * GROWTH, MAX_READ - seen)) {
    const { entries, isEnd } = await read(cursor, amount, limit + 1 - items.length)
    for (const { cursor: own, item } of entries) {
      if (item !== undefined) {
        // What was passed over since the last one that fits may fit by then.
        if (items.length >= limit) return pageOf(items, last)
        items.push(item)
        last = own
      }
      cursor = own
    }
    if (isEnd) return { items }
    seen += entries.length
    if (seen >= MAX_READ) return pageOf(items, cursor)
  }
}

function pageOf<Item>(items: readonly Item[], nextCursor: string | undefined): Page<Item> {
  return { items, ...(nextCursor !== undefined && { nextCursor }) }
}
