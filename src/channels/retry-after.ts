const SECONDS = /^\d{1,10}$/
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{10,30}$/

/**
 * Milliseconds to wait by a `Retry-After` header (RFC 9110, 10.2.3): seconds, or any of the three forms of an HTTP date.
 * `undefined` when it says neither, or names a time that has passed.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? ''
  if (SECONDS.test(value)) return Number(value) * 1_000
  if (!HTTP_DATE.test(value)) return undefined
  const wait = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`) - now
  return wait > 0 ? wait : undefined
}
