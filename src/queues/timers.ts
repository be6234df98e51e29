import type { Clock } from '../ports/clock.ts'

/** Timers of this process, one for each instant: a million alarms for the same instant share one timer. */
export interface Timers {
  /** Rings in `delayMs` milliseconds, rounded up by `instantOf`. */
  set(delayMs: number): void
  clear(): void
}

/** @param instantOf Rounds the due time: epoch milliseconds, not before `now + delayMs`. */
export function createTimers(
  clock: Pick<Clock, 'now' | 'after'>,
  ring: () => void,
  instantOf: (now: number, delayMs: number) => number,
): Timers {
  const timers = new Map<number, () => void>()
  return {
    set(delayMs) {
      const now = clock.now()
      const instant = instantOf(now, delayMs)
      if (timers.has(instant)) return
      const cancel = clock.after(instant - now, () => {
        timers.delete(instant)
        ring()
      })
      timers.set(instant, cancel)
    },
    clear() {
      for (const cancel of timers.values()) cancel()
      timers.clear()
    },
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * Due time in epoch milliseconds, rounded up so that alarms share it: to a tenth of a second within a minute, to a second within an
 * hour, to a minute beyond. A day has at most 6,000 instants, a year half a million.
 */
export function instantOf(now: number, delayMs: number): number {
  const step = delayMs <= MINUTE_MS ? 100 : delayMs <= HOUR_MS ? 1_000 : MINUTE_MS
  return Math.ceil((now + delayMs) / step) * step
}
