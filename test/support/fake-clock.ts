import type { Clock } from '../../src/ports/clock.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  /** Moves on, ringing every timer on the way at its own time. */
  advance(ms: number): void
  /** How many timers are set. */
  readonly timers: number
}

export function fakeClock(start: number = Date.UTC(2026, 10, 21, 8)): FakeClock {
  let now = start
  const timers = new Map<object, { at: number; run: () => void }>()
  return {
    now: () => now,
    after(ms, run) {
      const timer = {}
      timers.set(timer, { at: now + ms, run })
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)
        if (!next) break
        const [timer, { at, run }] = next
        timers.delete(timer)
        now = Math.max(now, at)
        run()
      }
      now = end
    },
    get timers() {
      return timers.size
    },
  }
}
