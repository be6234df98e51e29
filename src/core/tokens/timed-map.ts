/** A map whose entries end, each at its own time. Times are epoch milliseconds. */
export interface TimedMap<T> {
  /** `undefined`: there is none, or it has ended. */
  get(key: string, now: number): T | undefined
  put(key: string, value: T, until: number, now: number): void
  readonly size: number
}

/** A `put` removes ended entries once in this time. */
const SWEEP_MS = 60_000

/** @param maxSize When it is exceeded, the oldest `put` is dropped. Default: none. */
export function timedMap<T>(maxSize: number = Number.POSITIVE_INFINITY): TimedMap<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  let sweptAt = 0

  function sweep(now: number): void {
    if (Math.abs(now - sweptAt) < SWEEP_MS) return
    sweptAt = now
    for (const [key, { until }] of entries) if (until <= now) entries.delete(key)
  }

  return {
    get(key, now) {
      const found = entries.get(key)
      return found && found.until > now ? found.value : undefined
    },
    put(key, value, until, now) {
      sweep(now)
      entries.delete(key)
      entries.set(key, { value, until })
      const [oldest] = entries.keys()
      if (entries.size > maxSize && oldest !== undefined) entries.delete(oldest)
    },
    get size() {
      return entries.size
    },
  }
}
