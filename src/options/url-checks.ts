import { parseUrl } from '../model/parse-url.ts'
import { matching } from './checks.ts'
import type { Check } from './read-options.ts'

const LOCAL = ['localhost', '127.0.0.1', '[::1]']

/** A base URL to which a path or a query can be appended. */
export const bareUrl: Check = matching(
  isBareUrl,
  'must be an https: URL without credentials and query (http: only for this machine)',
)

function isBareUrl(text: unknown): boolean {
  const url = typeof text === 'string' && !/[?#\s]/.test(text) ? parseUrl(text) : undefined
  if (!url) return false
  const { protocol, hostname, username, password } = url
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOCAL.includes(hostname))
  return isSafe && !(username || password)
}
