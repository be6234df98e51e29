import type { Clock } from '../ports/clock.ts'

/** Timers of this process: one for all alarms of an instant, so that a million of them need not have a timer each. */
export interface Timers {
  /** Rings in `delayMs` milliseconds, at the instant that comes of it. */
  set(delayMs: number): void
  clear(): void
}

/** @param instantOf The epoch milliseconds at which an alarm rings that is set now: not before its time, and maybe with others. */
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
      const callOff = clock.after(instant - now, () => {
        timers.delete(instant)
        ring()
      })
      timers.set(instant, callOff)
    },
    clear() {
      for (const callOff of timers.values()) callOff()
      timers.clear()
    },
  }
}
