/** Characters of a long text in an index. The whole text is compared as well. */
const INDEXED = 200

export function indexKey(text: string): string {
  return text.length <= INDEXED ? text : text.slice(0, INDEXED).toWellFormed()
}

/** A foreign text without characters that databases refuse. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
