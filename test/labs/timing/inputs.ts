import { createHash, createHmac } from 'node:crypto'
import { composeAppSecret, randomBase62 } from '../../../src/auth/app-secret.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const HEX = '0123456789abcdef'
/** Inputs of a kind. */
const INPUTS = 5

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The secret but for its last random character, with the checksum right. */
export function nearSecrets(random: string): readonly string[] {
  return others(BASE62, random).map((digit) => composeAppSecret('live', random.slice(0, -1) + digit))
}

/** Whole secrets whose SHA-256 agrees with a digest in the first two hex digits. */
export function secretsNearDigest(digest: string): readonly string[] {
  const near: string[] = []
  while (near.length < INPUTS) {
    const secret = composeAppSecret('live', randomBase62(30))
    if (sha256(secret).startsWith(digest.slice(0, 2))) near.push(secret)
  }
  return near
}

/** The digest but for its last digit. */
export function nearDigests(digest: string): readonly string[] {
  return others(HEX, digest).map((digit) => digest.slice(0, -1) + digit)
}

/** A token whose signature is right but for its last byte. */
export function nearTokens(input: string, key: Uint8Array): readonly string[] {
  return Array.from({ length: INPUTS }, (_, index) => {
    const signature = createHmac('sha256', key).update(input).digest()
    signature[31] = (signature[31] ?? 0) ^ (index + 1)
    return `${input}.${signature.toString('base64url')}`
  })
}

/** Some digits that a text does not end in. */
function others(alphabet: string, text: string): string[] {
  return [...alphabet].filter((digit) => digit !== text.at(-1)).slice(0, INPUTS)
}
