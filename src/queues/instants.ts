const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * The epoch milliseconds of an alarm in `delayMs`, rounded up so that alarms share them: to a tenth of a second within a minute,
 * to a second within an hour, to a minute beyond. A day has 6,000 of them at most, a year half a million.
 */
export function instantOf(now: number, delayMs: number): number {
  const step = delayMs <= MINUTE_MS ? 100 : delayMs <= HOUR_MS ? 1_000 : MINUTE_MS
  return Math.ceil((now + delayMs) / step) * step
}
