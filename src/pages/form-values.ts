import type { AnswerField } from '../model/approval.ts'
import { parseInstant, writeInstant } from '../model/instants.ts'
import type { JsonValue } from '../model/json.ts'
import { parseUrl } from '../model/parse-url.ts'
import { kindOfField } from './field-kinds.ts'

/** Name of the control of a field of the schema. `answer` and `comment` have no prefix, so that a field may have these names. */
export function controlOf(name: string): string {
  return `content.${name}`
}

/** The field whose control has this name. */
export function fieldOfControl(control: string): string | undefined {
  return control.startsWith('content.') ? control.slice('content.'.length) : undefined
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?$/
/** The longest text that is read as a number. */
const MAX_NUMBER = 100
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/

/** True for a number as browsers send it. */
export function isNumber(text: string): boolean {
  return text.length <= MAX_NUMBER && NUMBER.test(text)
}

/** Epoch milliseconds of a time without an offset, as UTC. */
export function localInstant(text: string): number | undefined {
  if (!LOCAL_TIME.test(text)) return undefined
  return parseInstant(text.length === 'yyyy-mm-ddThh:mm'.length ? `${text}:00Z` : `${text}Z`)
}

/**
 * Reads the value of a field from the texts of its control. A text that has no such value stays a text, which `checkContent` refuses.
 *
 * @returns `undefined` for an empty control. Of several choices, none are an empty list if the field is required.
 */
export function readValue(field: AnswerField, texts: readonly string[], isRequired: boolean): JsonValue | undefined {
  const known = kindOfField(field)
  if (known.kind === 'choices') {
    const chosen = texts.filter((text) => text !== '')
    return chosen.length > 0 || isRequired ? chosen : undefined
  }
  const [text = ''] = texts
  if (text === '') return undefined
  if (known.kind === 'number') return isNumber(text) ? Number(text) : text
  if (known.kind === 'flag') return text === 'true' || text === 'false' ? text === 'true' : text
  if (known.kind !== 'text') return text
  if (known.field.format === 'date-time') {
    const at = localInstant(text) ?? parseInstant(text)
    return at === undefined ? text : writeInstant(at)
  }
  // Browsers show addresses with letters that a URI only has in an escaped form.
  if (known.field.format === 'uri' && /[^\0-\x7f]/.test(text)) return parseUrl(text)?.href ?? text
  return text
}

/** Writes a value that fits a field as the texts of its control. */
export function writeValue(field: AnswerField, value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.map(String)
  const known = kindOfField(field)
  const isTime = known.kind === 'text' && known.field.format === 'date-time'
  return [isTime ? localTime(String(value)) : String(value)]
}

/** The shortest form of an instant for a browser, in UTC. */
function localTime(text: string): string {
  const at = parseInstant(text)
  return at === undefined ? text : writeInstant(at).replace(/(?::00)?\.000Z$|Z$/, '')
}
