/**
 * Parses a URL; `undefined` for any other text. Does not use `URL.canParse`: in Node 20, after some thousand calls, its fast path
 * misreads Latin-1 as UTF-8 and gives `false` for URLs with a letter such as `ü`.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
