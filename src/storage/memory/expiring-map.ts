import { compoundKey } from '../rules/compound-key.ts'
import type { Counter, Counters } from '../rules/delivery-transitions.ts'
import { type Due, DueQueue } from './due-queue.ts'

export interface Expiring extends Due {
  readonly key: string
}

export interface ExpiringMap<T extends Expiring> {
  get(key: string, now: number): T | undefined
  /** Keeps an entry until a time, and removes a few expired ones. */
  keep(item: T, until: number, now: number): void
  /** Entries whose keys start with this text. Reads all keys. */
  withPrefix(prefix: string): Iterable<T>
  readonly size: number
}

/** Limit of expired entries removed per call: keeps calls short, and is more than a call adds. */
const MAX_REMOVED = 8

export function expiringMap<T extends Expiring>(): ExpiringMap<T> {
  const byKey = new Map<string, T>()
  const byEnd = new DueQueue<T>()

  function removeExpired(now: number): void {
    for (let count = 0; count < MAX_REMOVED; count++) {
      const { first } = byEnd
      if (!first || first.wakeAt > now) return
      byEnd.remove(first)
      byKey.delete(first.key)
    }
  }

  return {
    get(key, now) {
      const found = byKey.get(key)
      return found && found.wakeAt > now ? found : undefined
    },
    keep(item, until, now) {
      const old = byKey.get(item.key)
      if (old && old !== item) byEnd.remove(old)
      byKey.set(item.key, item)
      byEnd.place(item, until)
      removeExpired(now)
    },
    *withPrefix(prefix) {
      for (const [key, item] of byKey) if (key.startsWith(prefix)) yield item
    },
    get size() {
      return byKey.size
    },
  }
}

interface ExpiringCounter extends Counter, Expiring {}

/** Counters of rate limits. Each expires with its window. */
export function memoryCounters(): Counters & { readonly size: number } {
  const counters = expiringMap<ExpiringCounter>()
  return {
    find: (tenant, name, now) => counters.get(compoundKey(tenant, name), now),
    keep(counter, now) {
      const key = compoundKey(counter.tenant, counter.name)
      const found = counters.get(key, now)
      counters.keep(found ?? { ...counter, key, wakeAt: 0, slot: -1 }, now + counter.windowMs, now)
    },
    get size() {
      return counters.size
    },
  }
}
