import { parseUrl } from './parse-url.ts'

const LOCAL = /^[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
// Needs no parser: most domains, as most people write them.
const PLAIN = /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/
// What the URL parser would drop, decode or take for a delimiter must not reach it.
const DOMAIN_INPUT = /^[A-Za-z0-9.\u{a1}-\u{10ffff}-]+$/u

/**
 * The one mailbox that a string names, `local@domain` with the domain in ASCII and lower case; `undefined` for all else.
 *
 * A deliberately small part of RFC 5321: the local part is a dot-atom of at most 64 characters without `%` and `!`, which
 * some relays still route by, and does not begin with `-`; the domain has two or more labels and is no address literal;
 * at most 254 characters in all. So no list, group, quoted string, comment, display name or header can hide in it. Takes
 * time in proportion to the length.
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

/** A domain name in ASCII and lower case, international names as A-labels; `undefined` when it is none. */
export function parseDomain(text: string): string | undefined {
  if (PLAIN.test(text) && text.length <= 253) return text
  if (text.length > 253 || !DOMAIN_INPUT.test(text)) return undefined
  const domain = parseUrl(`http://${text}`)?.hostname
  if (domain === undefined) return undefined
  const labels = domain.split('.')
  const fits = domain.length <= 253 && labels.length >= 2 && labels.every((label) => LABEL.test(label))
  return fits && !/^\d+$/.test(labels.at(-1) ?? '') ? domain : undefined
}
