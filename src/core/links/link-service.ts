import type { Awaitable } from '../../model/awaitable.ts'
import { parseUrl } from '../../model/parse-url.ts'
import { matching } from '../../options/checks.ts'
import type { ReadyHashKeys } from '../../options/hash-keys.ts'
import type { Check } from '../../options/read-options.ts'
import type { MessageLinks } from '../../ports/channel.ts'
import { linkToken } from './link-token.ts'

/** One recipient's address on a channel, and the category of an event. */
export interface LinkTarget {
  readonly tenant: string
  readonly channel: string
  readonly address: string
  readonly category: string
}

/** Makes the links of messages. */
export interface LinkService {
  /** Texts that templates get instead of links: stored content holds no link. */
  readonly placeholders: MessageLinks
  /** The link that replaces the placeholder when a message is sent. Equal for equal input until the first key changes. */
  unsubscribeUrl(of: LinkTarget): string | Promise<string>
}

export interface LinkServiceOptions {
  /** Checked by {@link linkBaseUrl}. */
  readonly baseUrl: string
  /** The first one signs. */
  readonly keys: ReadyHashKeys
  /** Returns the key under which suppressions store an address. */
  readonly addressKeyOf: (tenant: string, address: string) => Awaitable<string>
}

const UNSUBSCRIBE_PATH = '/api/outbound/unsubscribe/'

/** RFC 2606, section 2: no host has a name below `invalid`. */
const PLACEHOLDERS: MessageLinks = { unsubscribe: 'https://links.sallyport.invalid/unsubscribe' }

export function linkService({ baseUrl, keys, addressKeyOf }: LinkServiceOptions): LinkService {
  const prefix = `${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}${UNSUBSCRIBE_PATH}`
  return {
    placeholders: PLACEHOLDERS,
    async unsubscribeUrl({ tenant, channel, address, category }) {
      const addressKey = await addressKeyOf(tenant, address)
      return `${prefix}${await linkToken({ tenant, channel, addressKey, category }, keys)}`
    },
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
