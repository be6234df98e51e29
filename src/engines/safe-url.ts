import { parseUrl } from '../model/parse-url.ts'

const SAFE: readonly string[] = ['http:', 'https:', 'mailto:']

/**
 * An absolute URL, as browsers and mail programs read it, if its scheme is http, https or mailto; otherwise `#`, which leads nowhere. It
 * is parsed as the WHATWG has it, so that case, control characters and white space hide no scheme, and given back as it was parsed.
 */
export function safeUrl(text: string): string {
  const url = parseUrl(text)
  return url && SAFE.includes(url.protocol) ? url.href : '#'
}
