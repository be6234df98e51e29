import type { IdGenerator } from '../ports/id-generator.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const RANDOM_BYTES = 16
const POOL_BYTES = 4096

/**
 * Ids of 10 characters of time (milliseconds, so that they sort by age) and 16 of chance (80 bits, from the platform's
 * cryptographic source), in Crockford's base 32: a ULID in lower case behind its prefix.
 */
export function randomIds(now: () => number): IdGenerator {
  let pool = new Uint8Array()
  let used = 0
  return {
    next(prefix) {
      if (used === pool.length) {
        pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
        used = 0
      }
      let id = `${prefix}_${encodeTime(now())}`
      for (const end = used + RANDOM_BYTES; used < end; used++) id += ALPHABET[(pool[used] ?? 0) & 31]
      return id
    },
  }
}

function encodeTime(ms: number): string {
  let text = ''
  for (let rest = ms; text.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}
