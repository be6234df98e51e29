import { createHash, createHmac } from 'node:crypto'
import { composeAppSecret, randomBase62 } from '../../../src/auth/app-secret.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const HEX = '0123456789abcdef'
/** Number of inputs of each kind. */
const INPUTS = 5

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The secret with another last random character and a valid checksum. */
export function nearSecrets(random: string): readonly string[] {
  return others(BASE62, random).map((digit) => composeAppSecret('live', random.slice(0, -1) + digit))
}

/** Valid secrets whose SHA-256 shares the first two hex digits with a digest. */
export function secretsNearDigest(digest: string): readonly string[] {
  const near: string[] = []
  while (near.length < INPUTS) {
    const secret = composeAppSecret('live', randomBase62(30))
    if (sha256(secret).startsWith(digest.slice(0, 2))) near.push(secret)
  }
  return near
}

/** The digest with another last digit. */
export function nearDigests(digest: string): readonly string[] {
  return others(HEX, digest).map((digit) => digest.slice(0, -1) + digit)
}

/** A token whose signature differs only in its last byte. */
export function nearTokens(input: string, key: Uint8Array): readonly string[] {
  return Array.from({ length: INPUTS }, (_, index) => {
    const signature = createHmac('sha256', key).update(input).digest()
    signature[31] = (signature[31] ?? 0) ^ (index + 1)
    return `${input}.${signature.toString('base64url')}`
  })
}

/** Digits that differ from the last one of a text. */
function others(alphabet: string, text: string): string[] {
  return [...alphabet].filter((digit) => digit !== text.at(-1)).slice(0, INPUTS)
}
