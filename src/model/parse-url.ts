/**
 * A URL, or `undefined`. `URL.canParse` is not asked: Node 20 answers `false` to what has a letter such as `ü` in it, once it has been
 * asked some thousand times: its fast path takes Latin-1 for UTF-8.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
