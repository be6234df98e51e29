import { parseMailbox } from './recipient.ts'

/**
 * A mail address in lower case with its domain in ASCII, also from `Name <address>`; other addresses without spaces around them. Providers
 * report addresses in other spellings than they were sent.
 */
export function normaliseAddress(address: string): string {
  const text = address.trim()
  const bare = text.endsWith('>') ? text.slice(text.lastIndexOf('<') + 1, -1) : text
  return parseMailbox(bare)?.toLowerCase() ?? text
}
