import type { IdGenerator } from '../ports/id-generator.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const RANDOM_CHARACTERS = 16
const POOL_BYTES = 4096

/** Generates ids of a prefix and a lower-case ULID (Crockford's base 32): 48 bits of time, sortable by age, and 80 random bits. */
export function randomIds(now: () => number): IdGenerator {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let time = ''
  let timeOf = Number.NaN
  return {
    next(prefix) {
      if (used === POOL_BYTES) {
        crypto.getRandomValues(pool)
        used = 0
      }
      const ms = now()
      if (ms !== timeOf) {
        time = encodeTime(ms)
        timeOf = ms
      }
      let random = ''
      for (const end = used + RANDOM_CHARACTERS; used < end; used++) random += ALPHABET[(pool[used] ?? 0) & 31]
      return `${prefix}_${time}${random}`
    },
  }
}

function encodeTime(ms: number): string {
  let text = ''
  for (let rest = ms; text.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}
