// Built from code points, so that this file contains no invisible characters.
const range = (first: number, last: number): string => `${String.fromCodePoint(first)}-${String.fromCodePoint(last)}`

const CONTROLS = new RegExp(`[${range(0x00, 0x08)}${range(0x0b, 0x1f)}${range(0x7f, 0x9f)}]`, 'g')
const BIDI = new RegExp(`[${range(0x202a, 0x202e)}${range(0x2066, 0x2069)}]`, 'g')
const LINE_BREAKS = new RegExp(`[${range(0x0a, 0x0d)}${range(0x85, 0x85)}${range(0x2028, 0x2029)}]+`, 'g')

/** Removes control characters and bidirectional overrides. Keeps line feeds; tabs become spaces. */
export function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\t', ' ').replace(CONTROLS, '').replace(BIDI, '')
}

/** {@link plainText} with line breaks as spaces. */
export function singleLine(text: string): string {
  return plainText(text.replace(LINE_BREAKS, ' ')).trim()
}

/** The problem with template fields that a channel does not know, if any. */
export function unknownFields(fields: readonly string[], known: readonly string[]): string | undefined {
  const unknown = fields.filter((field) => !known.includes(field))
  if (unknown.length === 0) return undefined
  return `unknown ${unknown.length === 1 ? 'field' : 'fields'} ${unknown.join(', ')} (known: ${known.join(', ')})`
}

/** The problem with fields that are lists or objects instead of texts, if any. */
export function notText(values: Readonly<Record<string, unknown>>, texts: readonly string[]): string | undefined {
  const wrong = texts.filter((field) => Object.hasOwn(values, field))
  return wrong.length === 0 ? undefined : `${wrong.join(', ')} must be a text`
}
