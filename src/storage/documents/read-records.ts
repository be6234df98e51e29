import type { Documents, StoredDocument } from '../../ports/documents.ts'
import { declarationOf, type Kind } from '../engine/kinds.ts'
import type { Follow, Found, Prefix, Wanted } from '../engine/records.ts'
import { type KnownTexts, listRange, textReader } from './document-texts.ts'
import { parseEntry, parseRecord } from './record-documents.ts'
import { type KeyRange, type Order, orderOf, type Row, rangeOf, recordKey } from './record-keys.ts'

/** A read fails after so many conflicts, which take some seconds. */
const MAX_TRIES = 200
const MAX_PAUSE_MS = 20

/**
 * Reads records as they were at one moment: reads again as long as any of them changed meanwhile.
 * @throws {Error} After too many conflicts.
 */
export async function readRecords(documents: Documents, known: KnownTexts, wanted: readonly Wanted[]): Promise<Found> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const attempt = readAttempt(documents, known)
    await Promise.all(wanted.map((want) => attempt.read(want)))
    if (await attempt.isOfOneMoment()) return attempt.found()
    await pause(Math.random() * Math.min(tries, MAX_PAUSE_MS))
  }
  throw new Error(`documentStore: a read met a conflict ${MAX_TRIES} times`)
}

interface Attempt {
  read(wanted: Wanted): Promise<void>
  isOfOneMoment(): Promise<boolean>
  found(): Found
}

function readAttempt(documents: Documents, known: KnownTexts): Attempt {
  const reader = textReader(documents, known)
  const lists: { readonly range: KeyRange; readonly listed: readonly StoredDocument[] }[] = []
  const records = new Map<Kind, Map<string, Row>>()

  function add(kind: Kind, key: string, text: string): Row {
    const row = parseRecord(kind, text)
    const ofKind = records.get(kind) ?? new Map<string, Row>()
    records.set(kind, ofKind.set(key, row))
    return row
  }

  async function readKey(kind: Kind, key: string): Promise<readonly Row[]> {
    const text = await reader.read(key)
    return text === undefined ? [] : [add(kind, key, text)]
  }

  async function list(range: KeyRange): Promise<readonly StoredDocument[]> {
    const listed = await listRange(documents, range)
    lists.push({ range, listed })
    return listed
  }

  /** If the record has left the index since it was listed, the range is no longer the same when it is listed again. */
  async function readEntry(order: Order, { text }: StoredDocument): Promise<readonly Row[]> {
    return readKey(order.kind, await recordKey(order.kind, parseEntry(order, text)))
  }

  async function readPrefix(order: Order, prefix: Prefix): Promise<readonly Row[]> {
    const range = await rangeOf(order, prefix)
    if (!order.isIndex && range.isOneKey) return readKey(order.kind, range.prefix)
    const listed = await list(range)
    if (order.isIndex) return (await Promise.all(listed.map((entry) => readEntry(order, entry)))).flat()
    return listed.map(({ key, text }) => {
      known.put(key, text)
      return add(order.kind, key, text)
    })
  }

  async function followFrom(start: readonly Row[], kind: Kind, { column, unless, depth, also }: Follow): Promise<void> {
    const visited = new Set<string>()
    let rows = start
    for (let step = 0; step < depth && rows.length > 0; step++) {
      const next = new Map<string, Row>()
      for (const row of rows) {
        const followed = row[unless] !== 1 ? followedKey(kind, row, column) : undefined
        if (followed) next.set(await recordKey(kind, followed), followed)
      }
      const fresh = [...next].filter(([key]) => !visited.has(key))
      for (const [key] of fresh) visited.add(key)
      const others = fresh.flatMap(([, row]) => also.map(async (other) => readKey(other, await recordKey(other, row))))
      const [found] = await Promise.all([Promise.all(fresh.map(([key]) => readKey(kind, key))), Promise.all(others)])
      rows = found.flat()
    }
  }

  return {
    async read({ kind, index, with: prefixes, follow }) {
      const order = orderOf(kind, index)
      const rows = (await Promise.all(prefixes.map((prefix) => readPrefix(order, prefix)))).flat()
      if (follow) await followFrom(rows, kind, follow)
    },

    /**
     * The moment is the end of the last read: since then, no document that was read by its key has changed, and lists are still the
     * same. A record that joins a listed range and leaves it again between two lists is not noticed; versions guard decisions about it.
     */
    async isOfOneMoment() {
      const read = [...reader.texts]
      const documentsRead = lists.reduce((sum, { listed }) => sum + Math.max(1, listed.length), read.length)
      if (documentsRead <= 1) return true
      const same = [
        read.length === 0 || documents.commit(read.map(([key, text]) => ({ key, before: text, after: text }))),
        ...lists.map(async ({ range, listed }) => isSame(listed, await listRange(documents, range))),
      ]
      return (await Promise.all(same)).every(Boolean)
    },

    found: () => Object.fromEntries([...records].map(([kind, rows]) => [kind, [...rows.values()]])) as Found,
  }
}

/** The key of the record that a column names. */
function followedKey(kind: Kind, row: Row, column: string): Row | undefined {
  const [first = '', ...others] = declarationOf(kind).key
  if (row[column] === null) return undefined
  return { ...Object.fromEntries(others.map((name) => [name, row[name]])), [first]: row[column] }
}

function isSame(listed: readonly StoredDocument[], again: readonly StoredDocument[]): boolean {
  return (
    listed.length === again.length &&
    listed.every(({ key, text }, at) => again[at]?.key === key && again[at]?.text === text)
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
