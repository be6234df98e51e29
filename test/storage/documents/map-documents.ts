import { setImmediate as roundTrip } from 'node:timers/promises'
import type { Documents } from '../../../src/storage/documents/index.ts'

/** Documents in a map that answers asynchronously like a database, so that other calls run in between. */
export function mapDocuments(clock: { now(): number }, texts: Map<string, string> = new Map()): Documents {
  return {
    now: () => clock.now(),
    async get(key) {
      await roundTrip()
      return texts.get(key)
    },
    async list(prefix, { after, limit, reverse = false }) {
      await roundTrip()
      const keys = [...texts.keys()].filter((key) => key.startsWith(prefix)).sort()
      if (reverse) keys.reverse()
      const rest = keys.filter((key) => after === undefined || (reverse ? key < after : key > after))
      return rest.slice(0, limit).map((key) => ({ key, text: texts.get(key) ?? '' }))
    },
    async commit(changes) {
      await roundTrip()
      if (changes.some(({ key, before }) => texts.get(key) !== before)) return false
      for (const { key, after } of changes) after === undefined ? texts.delete(key) : texts.set(key, after)
      return true
    },
  }
}
