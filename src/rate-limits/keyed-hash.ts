import { hex } from '../model/sha256.ts'

const HASH = { name: 'HMAC', hash: 'SHA-256' } as const

/** HMAC-SHA-256 (RFC 2104) under a key, as 64 lower-case hex digits: whoever lacks the key cannot try names out. */
export function keyedHash(secret: string): (text: string) => Promise<string> {
  const utf8 = new TextEncoder()
  const key = crypto.subtle.importKey('raw', utf8.encode(secret), HASH, false, ['sign'])
  return async (text) => {
    return hex(await crypto.subtle.sign(HASH.name, await key, utf8.encode(text)))
  }
}
