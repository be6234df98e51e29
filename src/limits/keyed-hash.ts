const HASH = { name: 'HMAC', hash: 'SHA-256' } as const

/** HMAC-SHA-256 (RFC 2104) under a key, as 64 lower-case hex digits: whoever lacks the key cannot try names out. */
export function keyedHash(secret: string): (text: string) => Promise<string> {
  const utf8 = new TextEncoder()
  const key = crypto.subtle.importKey('raw', utf8.encode(secret), HASH, false, ['sign'])
  return async (text) => {
    const signed = await crypto.subtle.sign(HASH.name, await key, utf8.encode(text))
    return Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
