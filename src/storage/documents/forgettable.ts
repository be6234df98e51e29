import type { Documents } from '../../ports/documents.ts'
import { timePart } from '../rules/time-part.ts'
import { timeIn } from './keys.ts'
import { walkDocuments } from './pages.ts'
import { type Transaction, transact } from './transaction.ts'

/** A document that expires: the answer of an idempotency key, or a counter of a rate limit. */
export interface Forgettable {
  readonly until: number
  /** The time in its index document, which is moved only once this time is reached. */
  readonly listedAt: number
}

const PREFIX = 'forget/'

/** Writes a forgettable document that the transaction has read as `old`. */
export function putForgettable(
  tx: Transaction,
  key: string,
  old: Forgettable | undefined,
  value: object,
  until: number,
): void {
  const listedAt = old?.listedAt ?? until
  tx.put(key, { ...value, until, listedAt })
  if (!old) tx.index({}, { [entryKey(listedAt, key)]: { key } })
}

/** Resolves to the number of index documents read. */
export async function forgetExpired(documents: Documents, limit: number): Promise<number> {
  let seen = 0
  for await (const entry of walkDocuments(documents, PREFIX, { first: 'oldest' }, limit)) {
    const isOver = await transact(documents, async (tx) => {
      if (timeIn(entry.key, PREFIX) > tx.now) return false
      if ((await tx.get(entry.key)) === undefined) return true
      tx.put(entry.key, undefined)
      const { key }: { readonly key: string } = JSON.parse(entry.text)
      const found = await tx.get<Forgettable>(key)
      if (found && found.until <= tx.now) tx.put(key, undefined)
      else if (found) {
        tx.put(key, { ...found, listedAt: found.until })
        tx.index({}, { [entryKey(found.until, key)]: { key } })
      }
      return true
    })
    if (!isOver || ++seen >= limit) break
  }
  return seen
}

function entryKey(time: number, key: string): string {
  return `${PREFIX}${timePart(time)}/${key}`
}
