import { setImmediate as roundTrip } from 'node:timers/promises'

/** Parts of a name, in whose order documents are listed: numbers by their size, texts by their letters. */
export type Key = readonly (string | number)[]

/** A document as it was found; one that is not there has a version too. */
export interface Found {
  readonly text: string | undefined
  readonly version: number
}

/** What is asked of the database: to put your own in its place, write these four. */
export interface Documents {
  /** Epoch milliseconds, by a clock that all processes share. */
  now(): Promise<number>
  get(key: Key): Promise<Found>
  /** The documents whose names begin with these parts, in the order of their names. It guards nothing: they may change at once. */
  list(prefix: Key): Promise<readonly string[]>
  /** Writes all of it, unless a document that was read is of another version by now: then nothing, and `false`. */
  commit(read: ReadonlyMap<string, Found>, written: ReadonlyMap<string, string | undefined>): Promise<boolean>
}

/** A name as one text that sorts as its parts do, and that no other parts give. */
export function nameOf(key: Key): string {
  return key.map((part) => `${typeof part === 'number' ? `${part}`.padStart(16, '0') : JSON.stringify(part)}/`).join('')
}

/** Stands for a database in these pages: it lives in the process, and answers as late as one that does not. */
export function mapDocuments(clock: { now(): number }): Documents {
  const texts = new Map<string, string>()
  const versions = new Map<string, number>()
  const versionOf = (name: string): number => versions.get(name) ?? 0
  return {
    now: async () => clock.now(),
    async get(key) {
      const name = nameOf(key)
      await roundTrip()
      return { text: texts.get(name), version: versionOf(name) }
    },
    async list(prefix) {
      await roundTrip()
      const start = nameOf(prefix)
      const names = [...texts.keys()].filter((name) => name.startsWith(start)).sort()
      return names.map((name) => texts.get(name) ?? '')
    },
    async commit(read, written) {
      await roundTrip()
      for (const [name, { version }] of read) if (versionOf(name) !== version) return false
      for (const [name, text] of written) {
        versions.set(name, versionOf(name) + 1)
        if (text === undefined) texts.delete(name)
        else texts.set(name, text)
      }
      return true
    },
  }
}
