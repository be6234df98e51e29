import type { DocumentChange, Documents } from '../../ports/documents.ts'

/** A transaction fails after so many conflicts, which take some seconds. */
const MAX_TRIES = 200
const MAX_PAUSE_MS = 20

/** Values of index documents, by key. */
export type DocumentEntries = Readonly<Record<string, unknown>>

export interface Transaction {
  /** Time of the database in epoch milliseconds. */
  readonly now: number
  /** A copy of a document. The commit fails if another transaction has changed the document. */
  get<T>(key: string): Promise<T | undefined>
  /** Replaces a document that `get` has read; `undefined` removes it. */
  put(key: string, value: unknown): void
  /** Writes a document that must not exist. */
  create(key: string, value: unknown): void
  /** Replaces index documents. `before` contains the current ones. */
  index(before: DocumentEntries, after: DocumentEntries): void
}

/**
 * Serialisable transaction by optimistic concurrency: reads, decides, commits, and retries after a conflict. `work` may run several
 * times, so it must change data only through the transaction.
 * @throws {Error} After too many conflicts. Nothing was changed.
 */
export async function transact<T>(documents: Documents, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const changes = new Map<string, DocumentChange>()
    const result = await work(transactionOn(documents, Math.floor(await documents.now()), changes))
    if (await commit(documents, [...changes.values()])) return result
    await pause(Math.random() * Math.min(tries, MAX_PAUSE_MS))
  }
  throw new Error(`documentStore: a transaction met a conflict ${MAX_TRIES} times`)
}

function transactionOn(documents: Documents, now: number, changes: Map<string, DocumentChange>): Transaction {
  return {
    now,
    async get(key) {
      if (!changes.has(key)) {
        const text = await documents.get(key)
        if (!changes.has(key)) changes.set(key, { key, before: text, after: text })
      }
      const text = changes.get(key)?.after
      return text === undefined ? undefined : JSON.parse(text)
    },
    put(key, value) {
      const change = changes.get(key)
      if (!change) throw new Error(`the document ${key} was not read`)
      changes.set(key, { ...change, after: textOf(value) })
    },
    create(key, value) {
      changes.set(key, { key, before: undefined, after: textOf(value) })
    },
    index(before, after) {
      for (const key of Object.keys({ ...before, ...after })) {
        const change = { key, before: textOf(before[key]), after: textOf(after[key]) }
        if (change.before !== change.after) changes.set(key, change)
      }
    },
  }
}

/** A single document that was only read needs no comparison. */
async function commit(documents: Documents, changes: readonly DocumentChange[]): Promise<boolean> {
  const isRead = changes.every(({ before, after }) => before === after)
  return (isRead && changes.length <= 1) || documents.commit(changes)
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
