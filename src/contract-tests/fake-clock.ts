import { matching } from '../options/checks.ts'
import { readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'

/** A clock that moves only by {@link FakeClock.advance}. */
export interface FakeClock extends Clock {
  /** Moves time forward and runs every timer at its own time, including timers set by timers. */
  advance(ms: number): void
  /** Number of pending timers. */
  readonly timers: number
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Limit of timers in one millisecond. Only timers that keep setting timers for the same millisecond exceed it. */
const MAX_RINGS = 100_000

/**
 * A clock for tests: timers run only by `advance`, without real waiting.
 * @param start Epoch milliseconds. Default: 2026-11-21, 8:00 UTC.
 * @throws {SallyportError} `option_invalid`, unless `start` is a number.
 */
export function fakeClock(start: number = Date.UTC(2026, 10, 21, 8)): FakeClock {
  readOptions('fakeClock', { start }, { start: required(matching(Number.isFinite, 'must be epoch milliseconds')) })
  let now = start
  const timers = new Set<Timer>()

  /** The first timer due by then; among equal instants, the one set first. */
  function nextBy(end: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer
    return next
  }

  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(ms) {
      const end = now + ms
      let rings = 0
      for (let next = nextBy(end); next; next = nextBy(end)) {
        rings = next.at > now ? 1 : rings + 1
        if (rings > MAX_RINGS) throw new Error('timers go on setting timers for the same millisecond')
        timers.delete(next)
        now = Math.max(now, next.at)
        next.run()
      }
      now = end
    },
    get timers() {
      return timers.size
    },
  }
}
