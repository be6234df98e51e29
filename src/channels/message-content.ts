import { choices, near } from '../options/read-options.ts'

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

/**
 * Faults of the names of template fields.
 *
 * @param needs Groups of fields of which one must be there. One that is misspelt is not also a missing one.
 */
export function fieldFaults(
  fields: readonly string[],
  known: readonly string[],
  needs: readonly (readonly string[])[] = [],
): readonly string[] {
  const unknown = fields.filter((field) => !known.includes(field))
  const missing = needs.filter(
    (group) => !group.some((field) => fields.includes(field)) && unknown.every((field) => near(field, group) === ''),
  )
  return [
    ...missing.map((group) => `needs ${group.join(' or ')}`),
    ...unknown.map((field) => `unknown field ${field}${choices(field, known, 'fields')}`),
  ]
}

/** Faults of fields that are lists or objects instead of texts. */
export function notText(texts: readonly string[], values: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return texts.filter((field) => Object.hasOwn(values, field)).map((field) => `${field} must be a text`)
}
