import { compoundKey } from '../rules/compound-key.ts'
import type { Counter, Counters } from '../rules/send-limits.ts'
import { type Expiring, expiringMap } from './expiring-map.ts'

interface Kept extends Counter, Expiring {}

/** What is counted in memory; it is let go of when its window has passed. */
export interface MemoryCounters extends Counters {
  /** How many counters there are. */
  readonly size: number
}

export function memoryCounters(): MemoryCounters {
  const kept = expiringMap<Kept>()
  return {
    find: (tenant, name, now) => kept.get(compoundKey(tenant, name), now),
    keep(counter, now) {
      const key = compoundKey(counter.tenant, counter.name)
      const found = kept.get(key, now)
      kept.keep(found ?? { ...counter, key, wakeAt: 0, slot: -1 }, now + counter.windowMs, now)
    },
    get size() {
      return kept.size
    },
  }
}
