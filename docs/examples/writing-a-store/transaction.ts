import { setTimeout as pause } from 'node:timers/promises'
import { type Documents, type Found, type Key, nameOf } from './documents.ts'

/** What one attempt has read and is to write. */
export interface Transaction {
  /** The database's time at which all of it happens. */
  readonly now: number
  /** A copy of a document, read once. From now on the transaction is only done if nobody else writes it. */
  get<T>(key: Key): Promise<T | undefined>
  /** Writes a document at the end; `undefined` removes it. What is as it was read is not written. */
  put(key: Key, value: unknown): void
  /** Copies of the documents that are listed there now. They are a hint: what counts is what `get` gives. */
  list<T>(prefix: Key): Promise<readonly T[]>
}

/** Does some work as if nobody else came between: again from its start, for as long as somebody did. */
export async function transact<T>(documents: Documents, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= 200; tries++) {
    const read = new Map<string, Found>()
    const written = new Map<string, string | undefined>()
    const result = await work({
      now: await documents.now(),
      async get(key) {
        const name = nameOf(key)
        const found = read.get(name) ?? (await documents.get(key))
        read.set(name, found)
        const text = written.has(name) ? written.get(name) : found.text
        return text === undefined ? undefined : JSON.parse(text)
      },
      put(key, value) {
        const name = nameOf(key)
        const text = value === undefined ? undefined : JSON.stringify(value)
        if (read.has(name) && read.get(name)?.text === text) written.delete(name)
        else written.set(name, text)
      },
      list: async (prefix) => (await documents.list(prefix)).map((text) => JSON.parse(text)),
    })
    if (await documents.commit(read, written)) return result
    await pause(Math.random() * Math.min(tries, 20))
  }
  throw new Error('others came between 200 times')
}
