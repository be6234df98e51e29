import type { JsonObject } from './json.ts'

/** Someone who can be notified, and where. Everything but `id` is optional. */
export interface Recipient {
  /** The string that the dispatch named: a user id, or the address itself. */
  readonly id: string
  /** One mail address, `local@domain`. */
  readonly email?: string
  /** E.164: `+` and 7 to 15 digits. */
  readonly phone?: string
  /** Where webhooks go: an `https:` URL. */
  readonly url?: string
  /** Addresses for channels of your own, by whatever name they look for. */
  readonly addresses?: Readonly<Record<string, string>>
  /** BCP 47 language tag, such as `de-AT`. */
  readonly locale?: string
  /** IANA time zone, such as `Europe/Vienna`. */
  readonly timeZone?: string
  /** Anything else that templates and conditions may read, as `recipient.attributes`. */
  readonly attributes?: JsonObject
}
