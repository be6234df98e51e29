import type { JsonObject } from './json.ts'
import { parseUrl } from './parse-url.ts'

/** A person or system that can be notified, with its addresses. Only `id` is required. */
export interface Recipient {
  /** The `recipient` of the dispatch: a user id, or the address itself. */
  readonly id: string
  /** One mail address, `local@domain`. */
  readonly email?: string
  /** E.164: `+` and 7 to 15 digits. */
  readonly phone?: string
  /** `https:` URL for webhooks. */
  readonly url?: string
  /** Addresses for custom channels, by any names. */
  readonly addresses?: Readonly<Record<string, string>>
  /** BCP 47 language tag, such as `de-AT`. */
  readonly locale?: string
  /** IANA time zone, such as `Europe/Vienna`. */
  readonly timeZone?: string
  /** Further data for templates and conditions, as `recipient.attributes`. */
  readonly attributes?: JsonObject
}

/** The members of a recipient. The names below an `open` one are the host's. */
export const RECIPIENT_MEMBERS: Readonly<Record<keyof Recipient, 'text' | 'open'>> = {
  id: 'text',
  email: 'text',
  phone: 'text',
  url: 'text',
  addresses: 'open',
  locale: 'text',
  timeZone: 'text',
  attributes: 'open',
}

const E164 = /^\+[1-9]\d{6,14}$/

/** True for an E.164 phone number: `+` and 7 to 15 digits. */
export function isPhoneNumber(text: string): boolean {
  return E164.test(text)
}

const LOCAL = /^[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
// Most domains match this and need no URL parser.
const PLAIN = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
// Excludes the characters that the URL parser drops, decodes or reads as delimiters.
const DOMAIN_INPUT = /^[A-Za-z0-9.\u{a1}-\u{10ffff}-]+$/u

/**
 * Parses one mail address `local@domain`, with the domain in ASCII and lower case; `undefined` for anything else.
 *
 * Accepts a small part of RFC 5321, without lists, groups, quoted strings, comments, display names and headers. The local part is a
 * dot-atom of at most 64 characters that does not begin with `-` and has no `%` or `!`, which some relays use for routing. The
 * domain has two or more labels and is no address literal. At most 254 characters in all. Takes linear time.
 */
export function parseMailbox(text: string): string | undefined {
  if (text.length > 254) return undefined
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > 64 || local.startsWith('-') || !LOCAL.test(local)) return undefined
  const domain = parseDomain(text.slice(at + 1))
  if (domain === undefined) return undefined
  const mailbox = `${local}@${domain}`
  return mailbox.length <= 254 ? mailbox : undefined
}

/** Parses a domain name to ASCII in lower case, with A-labels for international names; `undefined` for anything else. */
export function parseDomain(text: string): string | undefined {
  if (PLAIN.test(text) && text.length <= 253) return text
  if (text.length > 253 || !DOMAIN_INPUT.test(text)) return undefined
  const domain = parseUrl(`http://${text}`)?.hostname
  if (domain === undefined) return undefined
  const labels = domain.split('.')
  const fits = domain.length <= 253 && labels.length >= 2 && labels.every((label) => LABEL.test(label))
  return fits && !/^\d+$/.test(labels.at(-1) ?? '') ? domain : undefined
}
