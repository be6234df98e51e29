import type { SendLimit } from '../ports/delivery-policy.ts'
import { compoundKey } from './compound-key.ts'
import { type Expiring, expiringMap } from './expiring-map.ts'

interface Counter extends Expiring {
  /** The newest `max`, oldest first: with no more than these it is known whether one more fits. */
  readonly times: number[]
  max: number
  windowMs: number
}

/** Counts what was queued under each key, exactly: at most `max` in any window, wherever it begins. */
export interface SendLimits {
  /** Counts one for each of these and gives `true`; `false`, and nothing is counted, when any is spent. */
  take(tenant: string, limits: readonly SendLimit[], now: number): boolean
  /** How many counters there are. */
  readonly size: number
}

export function sendLimits(): SendLimits {
  const counters = expiringMap<Counter>()

  return {
    take(tenant, limits, now) {
      const taken = new Map<string, Counter>()
      for (const { key: name, max, windowMs } of limits) {
        const key = compoundKey(tenant, name)
        const counter = taken.get(key) ??
          counters.get(key, now) ?? { key, times: [], max, windowMs, wakeAt: 0, slot: -1 }
        const oldest = counter.times.at(-max)
        if (oldest !== undefined && oldest > now - windowMs) return false
        counter.max = Math.max(counter.max, max)
        counter.windowMs = Math.max(counter.windowMs, windowMs)
        taken.set(key, counter)
      }
      for (const counter of taken.values()) {
        counter.times.push(now)
        while (counter.times.length > counter.max) counter.times.shift()
        counters.keep(counter, now + counter.windowMs, now)
      }
      return true
    },
    get size() {
      return counters.size
    },
  }
}
