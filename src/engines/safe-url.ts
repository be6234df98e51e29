const SAFE: readonly string[] = ['http:', 'https:', 'mailto:']

/**
 * An absolute URL, as browsers and mail programs read it, if its scheme is http, https or mailto; otherwise `#`, which leads nowhere. It
 * is parsed as the WHATWG has it, so that case, control characters and white space hide no scheme, and given back as it was parsed.
 */
export function safeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && SAFE.includes(url.protocol) ? url.href : '#'
}
