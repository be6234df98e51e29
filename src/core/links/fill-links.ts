import type { Content } from '../../model/dispatch.ts'
import type { JsonValue } from '../../model/json.ts'
import type { MessageLinks } from '../../ports/channel.ts'

/** A text to find and the text that replaces it. */
type Replacement = readonly [found: string, by: string]

/** True if a text of the content has a placeholder. */
export function hasPlaceholder(content: Content, placeholders: MessageLinks): boolean {
  const replacements = replacementsOf(placeholders, placeholders)
  const isIn = (value: JsonValue): boolean => {
    if (typeof value === 'string') return replacements.some(([found]) => value.includes(found))
    return typeof value === 'object' && value !== null && Object.values(value).some(isIn)
  }
  return isIn(content)
}

/** Replaces every placeholder in the texts of rendered content, also within lists and objects. Changes no names. */
export function fillLinks(content: Content, placeholders: MessageLinks, links: MessageLinks): Content {
  const replacements = replacementsOf(placeholders, links)
  const fillObject = (value: Content): Content =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]))
  const fill = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return replacements.reduce(replaceIn, value)
    if (typeof value !== 'object' || value === null) return value
    return isList(value) ? value.map(fill) : fillObject(value)
  }
  return fillObject(content)
}

/** Each link as it is, and percent-encoded: within the query of another URL, such as that of a click counter. */
function replacementsOf(placeholders: MessageLinks, { unsubscribe }: MessageLinks): readonly Replacement[] {
  return [
    [placeholders.unsubscribe, unsubscribe],
    [encodeURIComponent(placeholders.unsubscribe), encodeURIComponent(unsubscribe)],
  ]
}

function replaceIn(text: string, [found, by]: Replacement): string {
  // A function, because `$` has a meaning in a replacement text.
  return text.includes(found) ? text.replaceAll(found, () => by) : text
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
