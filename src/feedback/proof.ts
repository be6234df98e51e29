import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

type Bytes = string | Uint8Array

/** Compares in constant time; the values may have different lengths. */
export function isEqual(given: Bytes, expected: Bytes): boolean {
  return timingSafeEqual(sha256(given), sha256(expected))
}

export function sha256(...parts: readonly Bytes[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export function hmac(algorithm: 'sha1' | 'sha256', key: Bytes, ...parts: readonly Bytes[]): Buffer {
  const code = createHmac(algorithm, key)
  for (const part of parts) code.update(part)
  return code.digest()
}

/** Tolerated lead of the provider's clock. */
const MAX_LEAD_MS = 300_000

/** The time of a text of epoch seconds in milliseconds; `undefined` if it is malformed, too old or in the future. */
export function timelyMs(seconds: string | undefined, now: number, toleranceSeconds: number): number | undefined {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) return undefined
  const at = Number(seconds) * 1_000
  return isTimely(at, now, toleranceSeconds) ? at : undefined
}

/** True unless a time is older than the tolerance or more than 5 minutes in the future. */
export function isTimely(at: number, now: number, toleranceSeconds: number): boolean {
  return now - at <= toleranceSeconds * 1_000 && at - now <= MAX_LEAD_MS
}
