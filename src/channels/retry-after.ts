const SECONDS = /^\d+$/
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{10,30}$/

/** Headers of an answer that tell how long to wait, as far as it has them. */
export interface WaitHeaders {
  /** `Retry-After`. */
  readonly retryAfter: string | null | undefined
  /** `Date`: when the answer was made, by the clock of who made it. */
  readonly date: string | null | undefined
}

/**
 * Milliseconds to wait by a `Retry-After` header (RFC 9110, 10.2.3): seconds, or any of the three forms of an HTTP date.
 * `undefined` when it says neither, or names a time that has passed. A date counts from the answer's own `Date`, so that clocks
 * that differ change nothing; from `now` where there is none. A wait past 2^53 - 1 ms is that long.
 */
export function retryAfterMs({ retryAfter, date }: WaitHeaders, now: number): number | undefined {
  const value = retryAfter?.trim() ?? ''
  if (SECONDS.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER)
  const until = httpDate(value)
  if (until === undefined) return undefined
  const wait = until - (httpDate(date?.trim() ?? '') ?? now)
  return wait > 0 ? wait : undefined
}

function httpDate(value: string): number | undefined {
  if (!HTTP_DATE.test(value)) return undefined
  const ms = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}
