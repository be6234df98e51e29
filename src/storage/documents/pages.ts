import type { Page } from '../../ports/dispatch-query.ts'
import type { Documents, StoredDocument } from '../../ports/documents.ts'
import { timePart } from '../rules/time-part.ts'
import { afterPrefix, timeIn } from './keys.ts'

/** Minimum of documents per request after the first. */
const CHUNK = 500

/** Part of a list whose keys have a time after the prefix. */
export interface PageRequest {
  readonly first: 'oldest' | 'newest'
  /** Inclusive. */
  readonly since?: number | undefined
  /** Exclusive. */
  readonly until?: number | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Turns the entries of an index into items of a page. */
export interface PageSource<Entry, Item> {
  /** Whether an entry may match. */
  fits(entry: Entry): boolean
  /** The current item of an entry; `undefined` if it does not match or is gone. */
  read(entry: Entry): Promise<Item | undefined>
}

/** One page of an index. The cursor is the key of its last item. An unknown cursor starts from the beginning. */
export async function readPage<Entry, Item>(
  documents: Documents,
  prefix: string,
  request: PageRequest,
  source: PageSource<Entry, Item>,
): Promise<Page<Item>> {
  const { limit } = request
  const found: { readonly item: Item; readonly key: string }[] = []
  for await (const chunk of chunksOf(documents, prefix, request, limit + 1)) {
    const fitting = chunk.filter(({ text }) => source.fits(JSON.parse(text)))
    while (fitting.length > 0 && found.length <= limit) {
      const batch = fitting.splice(0, limit + 1 - found.length)
      const items = await Promise.all(batch.map(({ text }) => source.read(JSON.parse(text))))
      for (const [at, { key }] of batch.entries()) {
        const item = items[at]
        if (item !== undefined) found.push({ item, key })
      }
    }
    if (found.length > limit) break
  }
  const items = found.slice(0, limit).map(({ item }) => item)
  const last = found.length > limit ? found[limit - 1]?.key : undefined
  return { items, ...(last !== undefined && { nextCursor: afterPrefix(last, prefix) }) }
}

export async function* walkDocuments(
  documents: Documents,
  prefix: string,
  range: Omit<PageRequest, 'limit'> = { first: 'oldest' },
  chunk: number = CHUNK,
): AsyncGenerator<StoredDocument, void, undefined> {
  for await (const rows of chunksOf(documents, prefix, range, chunk)) yield* rows
}

async function* chunksOf(
  documents: Documents,
  prefix: string,
  { first, since, until, cursor = '' }: Omit<PageRequest, 'limit'>,
  firstChunk: number,
): AsyncGenerator<readonly StoredDocument[], void, undefined> {
  const reverse = first === 'newest'
  const starts = [reverse ? until : since].flatMap((time) => (time === undefined ? [] : timePart(time)))
  if (/^\d{16}\/[-._a-z0-9/]*$/.test(cursor)) starts.push(cursor)
  const start = starts.sort().at(reverse ? 0 : -1)
  const end = reverse ? since : until
  const isPast = (time: number): boolean => end !== undefined && (reverse ? time < end : time >= end)
  let after = start === undefined ? undefined : prefix + start
  for (let limit = firstChunk; ; limit = Math.max(limit, CHUNK)) {
    const rows = await documents.list(prefix, { limit, reverse, ...(after !== undefined && { after }) })
    const inRange = rows.filter(({ key }) => !isPast(timeIn(key, prefix)))
    if (inRange.length > 0) yield inRange
    if (inRange.length < limit) return
    after = rows.at(-1)?.key
  }
}
