import type { Awaitable } from '../../model/awaitable.ts'
import { base64url, base64urlBytes } from '../../model/base64url.ts'
import type { ReadyHashKeys } from '../../options/hash-keys.ts'

const MAX_TOKEN = 1_024
/** Key id, payload as base64url JSON, MAC. */
const TOKEN = /^([\w-]{1,32})\.([\w-]+)\.([\w-]{43})$/

/**
 * Signs texts under the first key: `<key id>.<payload>.<MAC>` of `A-Z a-z 0-9 _ - .`. The token never expires.
 *
 * @param purpose A token of one purpose does not pass for one of another.
 * @throws {RangeError} If the token is longer than 1,024 characters.
 */
export async function linkToken(purpose: string, texts: readonly string[], [key]: ReadyHashKeys): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(texts))
  const signed = `${key.kid}.${base64url(bytes.slice().buffer)}`
  const token = `${signed}.${await key.hmac(signedText(purpose, signed))}`
  if (token.length > MAX_TOKEN) throw new RangeError(`a link token has at most ${MAX_TOKEN} characters`)
  return token
}

/** Verifies a token under the key that it names. `undefined`: not signed under any of the keys for this purpose. Never throws; linear time. */
export function readLinkToken(
  purpose: string,
  token: string,
  keys: ReadyHashKeys,
): Awaitable<readonly string[] | undefined> {
  const [, kid, payload = '', mac = ''] = (token.length <= MAX_TOKEN && TOKEN.exec(token)) || []
  const key = keys.find((one) => one.kid === kid)
  if (!key) return undefined
  const expected = key.hmac(signedText(purpose, `${kid}.${payload}`))
  return typeof expected === 'string'
    ? verified(payload, mac, expected)
    : expected.then((known) => verified(payload, mac, known))
}

function signedText(purpose: string, signed: string): string {
  return `sallyport:link:${purpose}:v1\n${signed}`
}

function verified(payload: string, mac: string, expected: string): readonly string[] | undefined {
  return isEqual(mac, expected) ? textsOf(payload) : undefined
}

/** Compares texts of equal length in constant time. */
function isEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let index = 0; index < expected.length; index++)
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index)
  return difference === 0
}

function textsOf(payload: string): readonly string[] | undefined {
  try {
    const texts: unknown = JSON.parse(new TextDecoder().decode(base64urlBytes(payload)))
    return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : undefined
  } catch {
    return undefined
  }
}
