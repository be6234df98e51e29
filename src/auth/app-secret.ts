import { matching } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import { fastestSha256 } from '../runtime/fastest-sha256.ts'

/** Options of {@link generateAppSecret}. */
export interface GenerateAppSecretOptions {
  /** Environment of the secret, readable in its text: 1 to 16 of `a-z 0-9`. Default: `live`. */
  readonly env?: string
}

/** A new application secret. */
export interface GeneratedAppSecret {
  /** Identifies the secret in logs and records: `app_` and the first 8 hex digits of `sha256`. */
  readonly id: string
  /** For the application only. It cannot be recovered. */
  readonly secret: string
  /** SHA-256 of the secret, 64 hex digits. The server needs only this; it is safe to store. */
  readonly sha256: string
}

const CHECKS: Checks<GenerateAppSecretOptions> = { env: matching(isEnv, 'must be 1 to 16 of a-z and 0-9') }

/**
 * Generates an application secret: give `secret` to the application, and `secret` or `{ id, sha256 }` to `appSecrets`.
 *
 * A secret is `sp_<env>_`, 30 random base-62 digits (178 bits from `crypto.getRandomValues`, without modulo bias) and 6 digits of
 * checksum: the CRC-32, as in zlib, of all preceding characters, in base 62 with the digits `0-9A-Za-z`. Secret scanners can
 * recognise it, and a mistyped secret is refused without a look-up.
 *
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export async function generateAppSecret(options: GenerateAppSecretOptions = {}): Promise<GeneratedAppSecret> {
  const { env = 'live' } = readOptions('generateAppSecret', options, CHECKS)
  const secret = composeAppSecret(env, randomBase62(RANDOM_LENGTH))
  const sha256 = await fastestSha256()(secret)
  return { id: credentialId(sha256), secret, sha256 }
}

export function credentialId(sha256: string): string {
  return `app_${sha256.slice(0, 8)}`
}

const ENV = /^[a-z0-9]{1,16}$/
const APP_SECRET = /^sp_[a-z0-9]{1,16}_[0-9A-Za-z]{36}$/
const SHORTEST = 'sp_x_'.length + 36
const LONGEST = SHORTEST + 15
const CHECKSUM_LENGTH = 6

/** Random base-62 digits of a secret: 178 bits. */
const RANDOM_LENGTH = 30

export function composeAppSecret(env: string, random: string): string {
  const head = `sp_${env}_${random}`
  return head + checksum(head, head.length)
}

/**
 * Whether a text is a well-formed application secret, known or not:
 *
 * ```text
 * sp_<env>_<random><checksum>
 *   env       1 to 16 of a-z 0-9
 *   random    30 of 0-9 A-Z a-z
 *   checksum  6 of 0-9 A-Z a-z: the CRC-32 (as in zlib) of all the ASCII bytes before it, `sp_` included,
 *             in base 62 with the digits 0-9A-Za-z, most significant first, padded with 0
 * ```
 *
 * Refuses a mistyped or truncated secret without a look-up or a hash.
 */
export function isAppSecret(text: string): boolean {
  if (!hasSecretShape(text)) return false
  const end = text.length - CHECKSUM_LENGTH
  return text.slice(end) === checksum(text, end)
}

/** True for the characters of a secret, without a look at its checksum. */
export function hasSecretShape(text: string): boolean {
  return text.length >= SHORTEST && text.length <= LONGEST && APP_SECRET.test(text)
}

export function isEnv(value: unknown): value is string {
  return typeof value === 'string' && ENV.test(value)
}

function checksum(text: string, length: number): string {
  return base62(crc32(text, length), CHECKSUM_LENGTH)
}

/** CRC of each nibble: the reflected polynomial of ISO-HDLC (zlib, PNG). */
const NIBBLES = [
  0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320,
  0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
] as const

/** CRC-32 (ISO-HDLC, as in zlib) of the first `length` characters of an ASCII text. */
export function crc32(ascii: string, length: number): number {
  let crc = -1
  for (let index = 0; index < length; index++) {
    crc ^= ascii.charCodeAt(index)
    crc = (crc >>> 4) ^ (NIBBLES[crc & 15] ?? 0)
    crc = (crc >>> 4) ^ (NIBBLES[crc & 15] ?? 0)
  }
  return ~crc >>> 0
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Larger bytes are rejected: they would bias the first digits. */
const FAIR_BYTES = 256 - (256 % 62)

/** Writes a number in base 62 (digits `0-9A-Za-z`, most significant first), padded with `0`. */
export function base62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = DIGITS.charAt(rest % 62) + text
  return text
}

/** Returns uniformly distributed base-62 digits from the runtime's cryptographic source. */
export function randomBase62(length: number): string {
  const bytes = new Uint8Array(64)
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(bytes)) {
      if (byte < FAIR_BYTES && text.length < length) text += DIGITS.charAt(byte % 62)
    }
  }
  return text
}
