import { createHmac } from 'node:crypto'

/** Makes a JWT of any header and claims, also invalid ones, signed with HMAC SHA-256 or the given function. */
export function forge(
  header: Readonly<Record<string, unknown>>,
  claims: unknown,
  sign: (input: string) => string = hs256(HMAC_KEY),
): string {
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${sign(input)}`
}

/** The key that `forge` signs with. */
export const HMAC_KEY: Uint8Array<ArrayBuffer> = new Uint8Array(32).fill(7)

/** Returns a function that signs with HMAC SHA-256. */
export function hs256(key: Uint8Array | string): (input: string) => string {
  return (input) => createHmac('sha256', key).update(input).digest('base64url')
}

function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}
