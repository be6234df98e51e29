import { parseUrl } from '../../model/parse-url.ts'
import { matching } from '../../options/checks.ts'
import type { ReadyHashKeys } from '../../options/hash-keys.ts'
import type { Check } from '../../options/read-options.ts'
import { linkToken, readLinkToken } from './link-token.ts'

/** Links to open endpoints below the host's base URL, with signed tokens. */
export interface SignedLinks {
  /**
   * Resolves to `<base URL><path><token>`. The token is signed under the first key of the option `links`, and never expires. Equal for equal
   * input until that key changes.
   *
   * @param purpose 1-64 of a-z 0-9 _. A token of one purpose does not pass for one of another.
   * @param path Of an open endpoint: `/api/outbound/unsubscribe/`.
   * @param texts What the token holds. Anyone who has the link can read it.
   * @throws {RangeError} By a rejection: the token has more than 1,024 characters.
   */
  sign(purpose: string, path: string, texts: readonly string[]): Promise<string>
  /** Verifies a token, under each key of the option `links`. `undefined`: it was not signed for this purpose. Never throws; linear time. */
  read(purpose: string, token: string): readonly string[] | undefined | Promise<readonly string[] | undefined>
}

/** @param options `baseUrl` is checked by {@link linkBaseUrl}; the first key signs. */
export function signedLinks({
  baseUrl,
  keys,
}: {
  readonly baseUrl: string
  readonly keys: ReadyHashKeys
}): SignedLinks {
  const base = baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl
  return {
    sign: async (purpose, path, texts) => `${base}${path}${await linkToken(purpose, texts, keys)}`,
    read: (purpose, token) => readLinkToken(purpose, token, keys),
  }
}

/** No character that HTML, a mail header or plain text needs to escape. */
const BASE_URL =
  /^(?:https:\/\/[A-Za-z0-9.:[\]-]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)(?:\/[A-Za-z0-9._~%-]+)*\/?$/
const MAX_BASE_URL = 200

/** Base of all links: the URL at which the host has mounted Sallyport. RFC 8058 requires `https:`. */
export const linkBaseUrl: Check = matching(
  (value) =>
    typeof value === 'string' && value.length <= MAX_BASE_URL && BASE_URL.test(value) && parseUrl(value) !== undefined,
  `must be an https URL such as https://example.com/base (http only for localhost): at most ${MAX_BASE_URL} characters of A-Z a-z 0-9 . _ ~ % - without query and fragment`,
)
