import type { Content } from '../../model/dispatch.ts'
import type { JsonValue } from '../../model/json.ts'
import type { MessageLinks } from '../../ports/channel.ts'
import type { LinkMakers } from '../../ports/link-maker.ts'

/** RFC 2606, section 2: no host has a name below `invalid`. */
const HOST = 'links.sallyport.invalid'

function placeholderOf(name: string): string {
  return `https://${HOST}/${name}`
}

/** Texts that templates get instead of links: stored content holds no link. */
export function placeholdersOf(makers: LinkMakers): MessageLinks {
  return Object.fromEntries(Object.keys(makers).map((name) => [name, placeholderOf(name)]))
}

/** Those of the names whose placeholders are in the texts of the content. */
export function linksIn(content: Content, names: readonly string[]): readonly string[] {
  const isIn = (value: JsonValue, name: string): boolean => {
    if (typeof value === 'string') return hasPlaceholder(value, name)
    return typeof value === 'object' && value !== null && Object.values(value).some((member) => isIn(member, name))
  }
  return names.filter((name) => isIn(content, name))
}

/** Replaces the placeholders of these links in the texts of rendered content, also within lists and objects. Changes no names. */
export function fillLinks(content: Content, links: MessageLinks): Content {
  const all = Object.entries(links)
  const fillObject = (value: Content): Content =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]))
  const fill = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return value.includes(HOST) ? all.reduce(fillText, value) : value
    if (typeof value !== 'object' || value === null) return value
    return isList(value) ? value.map(fill) : fillObject(value)
  }
  return fillObject(content)
}

/** A placeholder as it is, or percent-encoded: within the query of another URL, such as that of a click counter. */
function hasPlaceholder(text: string, name: string): boolean {
  const placeholder = placeholderOf(name)
  return text.includes(HOST) && (text.includes(placeholder) || text.includes(encodeURIComponent(placeholder)))
}

/** Functions, because `$` has a meaning in a replacement text. */
function fillText(text: string, [name, link]: readonly [string, string]): string {
  const placeholder = placeholderOf(name)
  return text
    .replaceAll(placeholder, () => link)
    .replaceAll(encodeURIComponent(placeholder), () => encodeURIComponent(link))
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
