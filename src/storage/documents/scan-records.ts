import type { Documents, StoredDocument } from '../../ports/documents.ts'
import type { Kind } from '../engine/kinds.ts'
import type { Prefix, Scan, Scanned, Value } from '../engine/records.ts'
import { type KnownTexts, listRange, MAX_CHUNK, type TextReader, textReader } from './document-texts.ts'
import { entryColumns, entryText, parseEntry, parseRecord } from './record-documents.ts'
import { type KeyRange, type Order, orderOf, positionColumns, type Row, rangeOf } from './record-keys.ts'
import { columnsUsed, matches, readRow } from './scan-filters.ts'
import { type Bounds, boundsOf, comparePlaces, type Place, prefixKeyOf, startOf, whereIs } from './scan-positions.ts'

/** Fewest candidates that are read together once the first ones did not suffice. */
const MIN_BATCH = 25
const MAX_BATCH = 100
const GROWTH = 4

/** A document of an order, which may lead to a record. */
interface Candidate extends Place {
  readonly key: string
  readonly text: string
  /** The columns that the document has. */
  readonly row: Row
}

/** Parts of an order, as {@link Records.scan} gives them. */
export async function scanRecords<Name extends Kind>(
  documents: Documents,
  known: KnownTexts,
  scan: Scan<Name>,
): Promise<Scanned<Name>> {
  const { kind, by = kind, index, with: prefixes, where = [], columns: used, limit } = scan
  const { most = Number.POSITIVE_INFINITY } = scan
  const order = orderOf(by, index)
  const columns = positionColumns(order, prefixes[0]?.length ?? 0)
  const hasAllColumns =
    !order.isIndex ||
    by !== kind ||
    (used !== undefined && hasAll(entryColumns(order), [...used, ...columnsUsed(where)]))
  const candidates = await candidatesOf(documents, order, scan)

  const found: { record: Row; at: Prefix }[] = []
  let last: Prefix | undefined
  let looked = 0
  for (let batch = 0; found.length < limit && looked < most; batch++) {
    const size = Math.min(MAX_BATCH, most - looked, Math.max(limit - found.length, batch === 0 ? 1 : MIN_BATCH))
    const taken = await candidates.take(size)
    const reader = textReader(documents, known)
    const rows = await Promise.all(
      taken.map(async (candidate) => {
        if (!order.isIndex) known.put(candidate.key, candidate.text)
        const own = hasAllColumns ? candidate.row : await currentRecord(order, candidate, reader)
        const row = own && by !== kind ? await readRow(kind, own, reader) : own
        return row && (await matches(row, where, reader)) ? row : undefined
      }),
    )
    for (const [nth, record] of rows.entries()) {
      if (found.length === limit) break
      const candidate = taken[nth]?.row
      last = columns.map((column) => candidate?.[column] as Value)
      looked++
      if (record) found.push({ record, at: last })
      if (nth === taken.length - 1 && !candidates.hasMore()) last = undefined
    }
    if (!candidates.hasMore()) break
  }
  return { found: found as unknown as Scanned<Name>['found'], ...(last && { last }) }
}

function hasAll(columns: readonly string[], used: readonly string[]): boolean {
  return used.every((column) => columns.includes(column))
}

/** The record of an index document; `undefined` if it is gone, or has another position by now. */
async function currentRecord(order: Order, { row, text }: Candidate, reader: TextReader): Promise<Row | undefined> {
  const record = await readRow(order.kind, row, reader)
  return record && entryText(order, record) === text ? record : undefined
}

interface Candidates {
  /** The next ones; fewer than `count` if there are no more. */
  take(count: number): Promise<readonly Candidate[]>
  hasMore(): boolean
}

/** Merges the candidates of all prefixes in order. */
async function candidatesOf(documents: Documents, order: Order, scan: Scan): Promise<Candidates> {
  const bounds = await boundsOf(order, scan)
  const prefixes = new Map(scan.with.map((prefix) => [JSON.stringify(prefix), prefix]))
  const chunk = Math.min(MAX_CHUNK, Math.min(scan.limit, scan.most ?? scan.limit) + 1)
  const sources = [...prefixes.values()].map((prefix) => candidatesIn(documents, order, prefix, bounds, chunk))
  const heads = await Promise.all(sources.map(async (source) => ({ source, next: (await source.next()).value })))
  const direction = bounds.isReverse ? -1 : 1

  function firstHead(): (typeof heads)[number] | undefined {
    return heads.reduce<(typeof heads)[number] | undefined>((first, head) => {
      if (!head.next) return first
      return first?.next && comparePlaces(first.next, head.next) * direction <= 0 ? first : head
    }, undefined)
  }

  return {
    async take(count) {
      const taken: Candidate[] = []
      while (taken.length < count) {
        const head = firstHead()
        if (!head?.next) break
        taken.push(head.next)
        head.next = (await head.source.next()).value
      }
      return taken
    },
    hasMore: () => heads.some(({ next }) => next),
  }
}

/** Candidates of one prefix in order. */
async function* candidatesIn(
  documents: Documents,
  order: Order,
  prefix: Prefix,
  bounds: Bounds,
  chunk: number,
): AsyncGenerator<Candidate, undefined> {
  const range = await rangeOf(order, prefix)
  const values: Row = Object.fromEntries(prefix.map((value, at) => [order.columns[at], value]))
  const prefixKey = await prefixKeyOf(order, prefix.length, values)
  for await (const { key, text } of documentsIn(
    documents,
    range,
    startOf(bounds, prefixKey),
    bounds.isReverse,
    chunk,
  )) {
    const place = { end: key.slice(range.prefix.length), prefixKey }
    const where = whereIs(place, bounds)
    if (where === 'past') return
    if (where === 'in') {
      yield { ...place, key, text, row: order.isIndex ? parseEntry(order, text) : parseRecord(order.kind, text) }
    }
  }
}

async function* documentsIn(
  documents: Documents,
  range: KeyRange,
  start: string | undefined,
  reverse: boolean,
  chunk: number,
): AsyncGenerator<StoredDocument, void> {
  if (range.isOneKey) return yield* await listRange(documents, range)
  let after = start === undefined ? undefined : range.prefix + start
  for (let limit = chunk; ; limit = Math.min(MAX_CHUNK, limit * GROWTH)) {
    const listed = await documents.list(range.prefix, { limit, reverse, ...(after !== undefined && { after }) })
    yield* listed
    if (listed.length < limit) return
    after = listed.at(-1)?.key
  }
}
