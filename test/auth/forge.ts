import { createHmac } from 'node:crypto'

/** Any header and any claims, signed with HMAC SHA-256 or with whatever is given: what no honest library would make. */
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

/** Signs with HMAC SHA-256 and that key. */
export function hs256(key: Uint8Array | string): (input: string) => string {
  return (input) => createHmac('sha256', key).update(input).digest('base64url')
}

function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}
