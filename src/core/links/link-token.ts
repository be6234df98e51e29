import type { Awaitable } from '../../model/awaitable.ts'
import { base64url, base64urlBytes } from '../../model/base64url.ts'
import type { ReadyHashKeys } from '../../options/hash-keys.ts'

/** Content of an unsubscribe link. */
export interface LinkPayload {
  readonly tenant: string
  readonly channel: string
  /** HMAC of the address: `<key id>.<43 characters>`. A link never holds the address itself. */
  readonly addressKey: string
  readonly category: string
}

/** First line of the signed text. Tokens of other purposes have another one, so that none passes for an unsubscribe token. */
const PURPOSE = 'sallyport:link:unsubscribe:v1'
const MAX_TOKEN = 1_024
/** Key id, payload as base64url JSON, MAC. */
const TOKEN = /^([\w-]{1,32})\.([\w-]+)\.([\w-]{43})$/

/**
 * Signs a payload under the first key: `<key id>.<payload>.<MAC>` of `A-Z a-z 0-9 _ - .`. The token never expires.
 *
 * @throws {RangeError} If the token is longer than 1,024 characters.
 */
export async function linkToken(payload: LinkPayload, [key]: ReadyHashKeys): Promise<string> {
  const { tenant, channel, addressKey, category } = payload
  const bytes = new TextEncoder().encode(JSON.stringify([tenant, channel, addressKey, category]))
  const signed = `${key.kid}.${base64url(bytes.slice().buffer)}`
  const token = `${signed}.${await key.hmac(signedText(signed))}`
  if (token.length > MAX_TOKEN) throw new RangeError(`a link token has at most ${MAX_TOKEN} characters`)
  return token
}

/** Verifies a token under the key that it names. `undefined`: not signed under any of the keys. Never throws; linear time. */
export function readLink(token: string, keys: ReadyHashKeys): Awaitable<LinkPayload | undefined> {
  const [, kid, payload = '', mac = ''] = (token.length <= MAX_TOKEN && TOKEN.exec(token)) || []
  const key = keys.find((one) => one.kid === kid)
  if (!key) return undefined
  const expected = key.hmac(signedText(`${kid}.${payload}`))
  return typeof expected === 'string'
    ? verified(payload, mac, expected)
    : expected.then((known) => verified(payload, mac, known))
}

function signedText(signed: string): string {
  return `${PURPOSE}\n${signed}`
}

function verified(payload: string, mac: string, expected: string): LinkPayload | undefined {
  return isEqual(mac, expected) ? payloadOf(payload) : undefined
}

/** Compares texts of equal length in constant time. */
function isEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let index = 0; index < expected.length; index++)
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index)
  return difference === 0
}

function payloadOf(text: string): LinkPayload | undefined {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(base64urlBytes(text)))
    if (!Array.isArray(fields) || fields.length !== 4 || !fields.every((field) => typeof field === 'string'))
      return undefined
    const [tenant, channel, addressKey, category] = fields as [string, string, string, string]
    return { tenant, channel, addressKey, category }
  } catch {
    return undefined
  }
}
