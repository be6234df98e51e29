/** Texts of statements by their shape: they do not depend on values. */
export type StatementTexts = Map<string, string>

/** The text of a shape, which is built once. */
export function cachedText(texts: StatementTexts, shape: string, build: () => string): string {
  const known = texts.get(shape)
  if (known !== undefined) return known
  const text = build()
  texts.set(shape, text)
  return text
}
