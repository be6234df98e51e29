import { parseUrl } from './parse-url.ts'

/** Masks `jane@example.com` as `j…@example.com`, `+4915112345678` as `+49…78`, a URL as its origin, others as one letter. */
export function maskAddress(address: string): string {
  const url = /^https?:/i.test(address) ? parseUrl(address) : undefined
  if (url) return `${url.origin}/…`
  if (address.startsWith('+')) return `${address.slice(0, 3)}…${address.slice(-2)}`
  const [first = ''] = address
  const at = address.lastIndexOf('@')
  return at > 0 ? `${first}…${address.slice(at)}` : `${first}…`
}
