import { base62 } from './base62.ts'
import { crc32 } from './crc32.ts'

const ENV = /^[a-z0-9]{1,16}$/
const APP_SECRET = /^sp_[a-z0-9]{1,16}_[0-9A-Za-z]{36}$/
const SHORTEST = 'sp_x_'.length + 36
const LONGEST = SHORTEST + 15
const CHECKSUM_LENGTH = 6

/** How many base-62 digits of a secret are random: 178 bits. */
export const RANDOM_LENGTH = 30

/** The secret of an environment with these random digits: see {@link isAppSecret}. */
export function composeAppSecret(env: string, random: string): string {
  const head = `sp_${env}_${random}`
  return head + checksum(head, head.length)
}

/**
 * Whether a text is a whole application secret, without asking whose:
 *
 * ```text
 * sp_<env>_<random><checksum>
 *   env       1 to 16 of a-z 0-9
 *   random    30 of 0-9 A-Z a-z
 *   checksum  6 of 0-9 A-Z a-z: the CRC-32 (as in zlib) of all the ASCII bytes before it, `sp_` included,
 *             in base 62 with the digits 0-9A-Za-z, most significant first, padded with 0
 * ```
 *
 * A secret that was mistyped or cut short is told apart here, with nothing looked up and nothing hashed.
 */
export function isAppSecret(text: string): boolean {
  if (text.length < SHORTEST || text.length > LONGEST || !APP_SECRET.test(text)) return false
  const end = text.length - CHECKSUM_LENGTH
  return text.slice(end) === checksum(text, end)
}

/** Whether a text can be the environment in a secret. */
export function isEnv(value: unknown): value is string {
  return typeof value === 'string' && ENV.test(value)
}

function checksum(text: string, length: number): string {
  return base62(crc32(text, length), CHECKSUM_LENGTH)
}
