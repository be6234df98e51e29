import { isStorable } from '../model/json.ts'
import { isLanguageTag } from '../model/locale-lookup.ts'
import { matching, recordOf } from '../options/checks.ts'
import { type Check, type Checks, isRecord, nested, problemsAt, type Rules } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'

const MAX_TEXT = 1_000
const MAX_CSS = 65_536

export const pageText: Check = matching(
  (value) => typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT && isStorable(value),
  `must be a text of 1 to ${MAX_TEXT} characters`,
)

/** CSS rules after those of the page. */
export const pageCss: Check = matching(
  (value) => typeof value === 'string' && value.length <= MAX_CSS && isStorable(value) && !/<\/style/i.test(value),
  `must be CSS of at most ${MAX_CSS} characters without </style`,
)

/** Language for browsers that accept none of the others. {@link localeRule} checks that the page has it. */
export const pageLocale: Check = matching(
  (value) => typeof value === 'string' && isLanguageTag(value),
  'must be a BCP 47 tag, such as de',
  shownName,
)

/** An object by language tags that differ in more than case. */
// @__NO_SIDE_EFFECTS__
export function byLanguage(item: Check): Check {
  const all = recordOf(item)
  return (value, given) => {
    const tags = isRecord(value) ? Object.keys(value) : []
    const malformed = tags.filter((tag) => !isLanguageTag(tag))
    const lower = tags.map((tag) => tag.toLowerCase())
    const repeated = tags.filter((_, index) => lower.indexOf(lower[index] ?? '') < index)
    const fault = all(value, given)
    return [
      ...malformed.flatMap((tag) => problemsAt(tag, 'must be a BCP 47 tag, such as de or de-AT')),
      ...repeated.flatMap((tag) => problemsAt(tag, 'is there twice: in a tag, case makes no difference; give it once')),
      ...(typeof fault === 'string' ? [{ detail: fault }] : (fault ?? [])),
    ]
  }
}

/** Some of the texts of a page, by language. */
// @__NO_SIDE_EFFECTS__
export function pageTexts<Texts extends object>(english: Texts): Check {
  const checks = Object.fromEntries(Object.keys(english).map((name) => [name, pageText]))
  return byLanguage(nested(checks as Checks<Partial<Texts>>))
}

/** The option `locale` is a built-in language or one of the option `texts`. */
// @__NO_SIDE_EFFECTS__
export function localeRule(builtIn: object): Rules {
  return ({ locale, texts }) => {
    const tags = [...Object.keys(builtIn), ...Object.keys(Object(texts)).map((tag) => tag.toLowerCase())]
    if (typeof locale !== 'string' || !isLanguageTag(locale) || tags.includes(locale.toLowerCase())) return []
    return problemsAt('locale', `is ${shownName(locale)}; must be one of the languages: ${tags.join(', ')}`)
  }
}
