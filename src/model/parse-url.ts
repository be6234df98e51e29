/** Parses a URL, or returns `undefined`. Avoids `URL.canParse`: after many calls, Node 20 rejects URLs with `ü` and similar. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
