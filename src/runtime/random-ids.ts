import type { IdGenerator } from '../ports/id-generator.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARACTERS = 10
const COUNT_CHARACTERS = 3
const RANDOM_CHARACTERS = 13
const POOL_BYTES = 256 * RANDOM_CHARACTERS

/**
 * Generates ids of a prefix and a lower-case ULID (Crockford's base 32): 48 bits of time, 15 bits that count the ids of one millisecond,
 * and 65 random bits. The ids of one generator sort by age, up to 32,768 of them in a millisecond.
 */
export function randomIds(now: () => number): IdGenerator {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let ms = Number.NaN
  let time = ''
  let count = 0
  return {
    next(prefix) {
      if (used === POOL_BYTES) {
        crypto.getRandomValues(pool)
        used = 0
      }
      const present = now()
      if (present === ms) count++
      else {
        ms = present
        time = encode(ms, TIME_CHARACTERS)
        count = 0
      }
      let random = ''
      for (const end = used + RANDOM_CHARACTERS; used < end; used++) random += ALPHABET[(pool[used] ?? 0) & 31]
      return `${prefix}_${time}${encode(count, COUNT_CHARACTERS)}${random}`
    },
  }
}

/** The last characters of a number in base 32. */
function encode(number: number, characters: number): string {
  let text = ''
  for (let rest = number; text.length < characters; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}
