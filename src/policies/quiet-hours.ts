import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import { checkQuietHours, type QuietHoursOptions } from './quiet-hours-options.ts'
import { type WallClock, wallClocks } from './wall-clock.ts'

const MINUTE_MS = 60_000
const DAY = 24 * 60

/**
 * Lets messages wait while it is night, or whenever else nobody is to be disturbed: what would go out between `from` and `to`,
 * by the wall clock of the recipient's time zone, is deferred to `to`. Critical events pass.
 *
 * It is deferred to the start of the first minute that is not quiet, whatever happens to the clock until then. An end that is
 * left out as clocks go forward is the first instant after the gap; of one that comes twice as they go back, it is the one that
 * comes next.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function quietHours(options: QuietHoursOptions): DeliveryPolicy {
  const { from, to, clock: otherwise, days, channels } = checkQuietHours(options)
  const length = modulo(to - from, DAY)
  const clockIn = wallClocks(otherwise)

  /** How many minutes are quiet from what a wall clock shows on, if it runs on steadily. */
  function quietMinutes(shown: number): number {
    const since = modulo(shown - from, DAY)
    const dayBegun = (shown - from - since) / DAY
    return since < length && days.has(isoWeekday(dayBegun)) ? length - since : 0
  }

  return {
    names: { channels: [...(channels ?? [])] },
    decide({ critical, channel, recipient, at }) {
      if (critical || channels?.has(channel) === false) return { verdict: 'send' }
      const clock = clockIn(recipient.timeZone)
      const asked = Math.floor(at / MINUTE_MS)
      let minute = asked
      let left = quietMinutes(clock(minute))
      while (left > 0) {
        minute = firstChange(clock, minute, minute + left) ?? minute + left
        left = quietMinutes(clock(minute))
      }
      return minute > asked ? { verdict: 'defer', until: minute * MINUTE_MS } : { verdict: 'send' }
    },
  }
}

/**
 * The first minute after `start`, up to `end`, from which a wall clock is put forward or back, if it is. For less than a few
 * days: no clock was ever put there and back in so short a time.
 */
function firstChange(clock: WallClock, start: number, end: number): number | undefined {
  const isChanged = (minute: number) => clock(minute) - clock(start) !== minute - start
  if (!isChanged(end)) return undefined
  let steady = start
  let changed = end
  while (changed - steady > 1) {
    const middle = Math.floor((steady + changed) / 2)
    if (isChanged(middle)) changed = middle
    else steady = middle
  }
  return changed
}

/** The ISO weekday of a day that is counted from 1970-01-01, a Thursday. */
function isoWeekday(day: number): number {
  return modulo(day + 3, 7) + 1
}

function modulo(dividend: number, divisor: number): number {
  return ((dividend % divisor) + divisor) % divisor
}
