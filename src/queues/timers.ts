import type { Clock } from '../ports/clock.ts'

/** Timers of this process. All wakes for the same instant share one timer. */
export interface Timers {
  /** Calls `emit` in `delayMs` milliseconds, rounded up by `instantOf`. */
  set(delayMs: number): void
  clear(): void
}

/** @param instantOf Rounds the due time: epoch milliseconds, not before `now + delayMs`. */
export function createTimers(
  clock: Pick<Clock, 'now' | 'after'>,
  emit: () => void,
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
        emit()
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

/** Due time in epoch milliseconds, rounded up so that wakes share it. A day has at most 6,000 instants, a year half a million. */
export function instantOf(now: number, delayMs: number): number {
  const step = delayMs <= MINUTE_MS ? 100 : delayMs <= HOUR_MS ? 1_000 : MINUTE_MS
  return Math.ceil((now + delayMs) / step) * step
}
