import type { SendLimit } from '../../ports/delivery-policy.ts'

/** What was let out under a key. */
export interface Counter {
  readonly tenant: string
  readonly name: string
  /** The newest `max`, oldest first: with no more than these it is known whether one more fits. */
  readonly times: number[]
  max: number
  windowMs: number
}

/** Where a store keeps what it has counted. */
export interface Counters {
  /** What was counted under a name, if anything of it still matters. */
  find(tenant: string, name: string, now: number): Counter | undefined
  /** Keeps a counter, new or found here, for as long as it matters. */
  keep(counter: Counter, now: number): void
}

/** Counts what was queued under each key, exactly: at most `max` in any window, wherever it begins. */
export interface SendLimits {
  /** Counts one for each of these and gives `true`; `false`, and nothing is counted, when any is spent. */
  take(tenant: string, limits: readonly SendLimit[], now: number): boolean
}

/** Counts over a store's own counters. */
export function sendLimits(counters: Counters): SendLimits {
  return {
    take(tenant, limits, now) {
      const taken = new Map<string, Counter>()
      for (const { key: name, max, windowMs } of limits) {
        const counter = taken.get(name) ??
          counters.find(tenant, name, now) ?? { tenant, name, times: [], max, windowMs }
        const oldest = counter.times.at(-max)
        if (oldest !== undefined && oldest > now - windowMs) return false
        counter.max = Math.max(counter.max, max)
        counter.windowMs = Math.max(counter.windowMs, windowMs)
        taken.set(name, counter)
      }
      for (const counter of taken.values()) {
        counter.times.push(now)
        while (counter.times.length > counter.max) counter.times.shift()
        counters.keep(counter, now)
      }
      return true
    },
  }
}
