const SECONDS = /^\d+$/
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{10,30}$/

/** Response headers that define a wait. */
export interface WaitHeaders {
  readonly retryAfter: string | null | undefined
  /** Time of the response by the server's clock. */
  readonly date: string | null | undefined
}

/**
 * Milliseconds to wait by `Retry-After` (RFC 9110, 10.2.3): seconds or an HTTP date, at most 2^53 - 1; `undefined` if invalid or passed.
 * A date is relative to the response's `Date`, because clocks may differ, else to `now`.
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
