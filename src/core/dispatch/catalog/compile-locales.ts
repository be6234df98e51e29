import { isRecord, near } from '../../../options/read-options.ts'
import type { Compilation } from './compilation.ts'
import { compileTemplates, type FieldRenderer } from './compile-template.ts'
import type { LocaleDefinitions } from './event-definition.ts'
import { isLanguageTag, lookUpLocale } from './locale-lookup.ts'

/** The fields in other languages, by tag in lower case. */
type Locales = ReadonlyMap<string, ReadonlyMap<string, FieldRenderer>>

/** Compiles what a channel says in other languages, in fields that it has itself: `names`. */
export function compileLocales(
  definitions: LocaleDefinitions<unknown> | undefined,
  names: readonly string[],
  place: { readonly event: string; readonly channel: string },
  compilation: Compilation,
): Locales {
  const { problems } = compilation
  const locales = new Map<string, ReadonlyMap<string, FieldRenderer>>()
  if (definitions === undefined) return locales
  if (!isRecord(definitions)) {
    problems.push({ ...place, field: 'locales', detail: 'is not an object of fields by BCP 47 tag' })
    return locales
  }
  for (const [tag, templates] of Object.entries(definitions)) {
    const at = { ...place, field: `locales.${tag}` }
    const key = tag.toLowerCase()
    if (!isLanguageTag(tag)) problems.push({ ...at, detail: 'is not a well-formed BCP 47 tag, such as de-AT' })
    if (locales.has(key)) problems.push({ ...at, detail: 'is there twice: in a tag, case makes no difference' })
    if (!isRecord(templates)) problems.push({ ...at, detail: 'is not an object of fields' })
    const fields = isRecord(templates) ? templates : {}
    const within = (field: string): typeof at => ({ ...at, field: `${at.field}.${field}` })
    for (const field of Object.keys(fields)) {
      if (names.includes(field)) continue
      problems.push({ ...within(field), detail: `is not a field of the channel itself${near(field, names)}` })
    }
    locales.set(key, compileTemplates(fields, within, compilation))
  }
  return locales
}

/** A field in the language of whoever reads it; `byDefault` alone where no locale has this field. */
export function inLocale(field: string, byDefault: FieldRenderer, locales: Locales): FieldRenderer {
  const byTag = new Map<string, FieldRenderer>()
  for (const [tag, fields] of locales) {
    const renderer = fields.get(field)
    if (renderer) byTag.set(tag, renderer)
  }
  if (byTag.size === 0) return byDefault
  return (facts) => (lookUpLocale(byTag, facts.recipient.locale) ?? byDefault)(facts)
}
