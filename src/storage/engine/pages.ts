import type { Page } from '../../ports/dispatch-query.ts'
import { columnOf, isNumber } from './columns.ts'
import { declarationOf, type Kind, type RecordOf } from './kinds.ts'
import type { Prefix, Records, Scan } from './records.ts'

/** Most records that are looked at for one page: a page with few matches ends early, with a cursor. */
const MAX_READ = 2_500
const GROWTH = 4

/** How a list is shown in pages. */
export interface PageRequest<Name extends Kind, Item> {
  readonly limit: number
  readonly cursor?: string | undefined
  /** An item of each record, in order; `undefined` for one that does not match. */
  readonly itemsOf: (found: readonly RecordOf<Name>[]) => Promise<readonly (Item | undefined)[]>
  /** Default: a time and the column after it. */
  readonly cursors?: CursorFormat
}

/** Positions as texts. */
export interface CursorFormat {
  cursorOf(position: Prefix): string
  /** `undefined` for an unknown cursor: the list starts from the beginning. */
  positionOf(cursor: string): Prefix | undefined
}

/** Reads until a page is full and one more record matches, or no records are left. */
export async function readPage<Name extends Kind, Item>(
  records: Records,
  scan: Omit<Scan<Name>, 'limit' | 'most' | 'after'>,
  { limit, cursor, itemsOf, cursors = timeCursors(scan) }: PageRequest<Name, Item>,
): Promise<Page<Item>> {
  const pageOf = (items: readonly Item[], last: Prefix | undefined): Page<Item> => ({
    items,
    ...(last && { nextCursor: cursors.cursorOf(last) }),
  })
  const items: Item[] = []
  let after = cursor === undefined ? undefined : cursors.positionOf(cursor)
  let lastMatch = after
  let seen = 0
  for (let most = limit + 1; ; most = Math.min(most * GROWTH, MAX_READ - seen)) {
    const needed = limit + 1 - items.length
    const { found, last } = await records.scan<Name>({ ...scan, ...(after && { after }), limit: needed, most })
    const given = await itemsOf(found.map(({ record }) => record))
    for (const [place, { at }] of found.entries()) {
      const item = given[place]
      if (item === undefined) continue
      // The next page starts after the last match: skipped records may match by then.
      if (items.length >= limit) return pageOf(items, lastMatch)
      items.push(item)
      lastMatch = at
    }
    if (!last) return { items }
    after = last
    seen += most
    if (seen >= MAX_READ) return pageOf(items, after)
  }
}

/** Most records of one scan of {@link scanAll}. */
const AT_ONCE = 1_000

/** All records of a scan, read in parts. Changes between two parts may be seen. */
export async function* scanAll<Name extends Kind>(
  records: Records,
  scan: Omit<Scan<Name>, 'limit' | 'most' | 'after'>,
): AsyncGenerator<RecordOf<Name>, void, undefined> {
  let after: Prefix | undefined
  do {
    const { found, last } = await records.scan<Name>({ ...scan, limit: AT_ONCE, ...(after && { after }) })
    for (const { record } of found) yield record
    after = last
  } while (after)
}

/** Bounds of a list by time, as members of a {@link Scan}. */
export function timeRange(
  since: number | undefined,
  until: number | undefined,
  first: 'oldest' | 'newest',
): Pick<Scan, 'from' | 'until' | 'isReverse'> {
  return {
    isReverse: first === 'newest',
    ...(since !== undefined && { from: [Math.ceil(since)] }),
    ...(until !== undefined && { until: [Math.ceil(until)] }),
  }
}

/** Cursors of lists by a time and one more column. */
function timeCursors({
  kind,
  by = kind,
  index,
  with: prefixes,
}: Pick<Scan, 'kind' | 'by' | 'index' | 'with'>): CursorFormat {
  const { key, columns, indexes } = declarationOf(by)
  const order = index === undefined ? key : (indexes?.[index] ?? key)
  const words = columns[order[(prefixes[0]?.length ?? 0) + 1] ?? '']
  const isInteger = words !== undefined && isNumber(columnOf(words))
  return {
    cursorOf: ([at, id]) => `${at} ${id}`,
    positionOf(cursor) {
      const [, at, id] = /^(\d{1,16}) (.+)$/s.exec(cursor) ?? []
      if (at === undefined || id === undefined) return undefined
      if (!isInteger) return [Number(at), id]
      return /^\d{1,16}$/.test(id) ? [Number(at), Number(id)] : undefined
    },
  }
}
