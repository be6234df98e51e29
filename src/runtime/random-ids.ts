import type { IdGenerator } from '../ports/id-generator.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const RANDOM_CHARACTERS = 16
const POOL_BYTES = 4096

/** Generates ids of a prefix and a lower-case ULID (Crockford's base 32): 48 bits of time, sortable by age, and 80 random bits. */
export function randomIds(now: () => number): IdGenerator {
  const codes = Array.from(ALPHABET, (character) => character.charCodeAt(0))
  let pool: readonly number[] = []
  let used = 0
  let time = ''
  let timeOf = Number.NaN
  return {
    next(prefix) {
      if (used === pool.length) {
        pool = Array.from(crypto.getRandomValues(new Uint8Array(POOL_BYTES)), (byte) => codes[byte & 31] ?? 0)
        used = 0
      }
      const ms = now()
      if (ms !== timeOf) {
        time = encodeTime(ms)
        timeOf = ms
      }
      const random = String.fromCharCode(...pool.slice(used, used + RANDOM_CHARACTERS))
      used += RANDOM_CHARACTERS
      return `${prefix}_${time}${random}`
    },
  }
}

function encodeTime(ms: number): string {
  let text = ''
  for (let rest = ms; text.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}
