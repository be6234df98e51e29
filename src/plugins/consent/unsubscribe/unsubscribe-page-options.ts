import { isStorable } from '../../../model/json.ts'
import { isLanguageTag } from '../../../model/locale-lookup.ts'
import { matching, recordOf } from '../../../options/checks.ts'
import { type Check, type Checks, isRecord, nested, problemsAt } from '../../../options/read-options.ts'
import { shownName } from '../../../options/shown-value.ts'
import { UNSUBSCRIBE_TEXTS, type UnsubscribeTexts } from './unsubscribe-texts.ts'

/** A text in every language, or texts by BCP 47 tag such as `de` or `de-AT`. */
export type LocalText = string | Readonly<Record<string, string>>

/**
 * Options of the unsubscribe page. The page is in the language that the browser asks for, among English, German, French, Spanish, Italian,
 * Portuguese, Dutch and those of `texts`. All texts are escaped.
 */
export interface UnsubscribePageOptions {
  /** Name of the sender, above the heading. Default: none. */
  readonly name?: string
  /** Heading and title, in every language. Default: `Unsubscribe` in the page's language. */
  readonly title?: string
  /** Replaces texts, or adds languages, by BCP 47 tag. Texts that a language lacks are those of its shorter tag, then English. */
  readonly texts?: Readonly<Record<string, Partial<UnsubscribeTexts>>>
  /** Readable names of categories. Default: the category itself. */
  readonly categories?: Readonly<Record<string, LocalText>>
  /** Language for browsers that accept none of the others: one of them, as a BCP 47 tag. Default: `en`. */
  readonly locale?: string
  /** CSS rules after those of the page. The page's policy allows no images, fonts or imports. At most 65,536 characters. */
  readonly css?: string
}

const MAX_TEXT = 1_000
const MAX_CSS = 65_536

const text = matching(
  (value) => typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT && isStorable(value),
  `must be a text of 1 to ${MAX_TEXT} characters`,
)

/** An object by language tags that differ in more than case. */
function byLanguage(item: Check): Check {
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

const localText: Check = (value, given) => (isRecord(value) ? byLanguage(text) : text)(value, given)

const TEXTS: Checks<Partial<UnsubscribeTexts>> = {
  title: text,
  question: text,
  category: text,
  all: text,
  doneCategory: text,
  doneAll: text,
  note: text,
  failed: text,
}

const stylesheet: Check = matching(
  (value) => typeof value === 'string' && value.length <= MAX_CSS && isStorable(value) && !/<\/style/i.test(value),
  `must be CSS of at most ${MAX_CSS} characters without </style`,
)

const CHECKS: Checks<UnsubscribePageOptions> = {
  name: text,
  title: text,
  texts: byLanguage(nested(TEXTS)),
  categories: recordOf(localText),
  locale: matching(
    (value) => typeof value === 'string' && isLanguageTag(value),
    'must be a BCP 47 tag, such as de',
    shownName,
  ),
  css: stylesheet,
}

/** Checks {@link UnsubscribePageOptions}. */
export const unsubscribePageOptions: Check = nested<UnsubscribePageOptions>(CHECKS, ({ locale, texts }) => {
  const tags = [...Object.keys(UNSUBSCRIBE_TEXTS), ...Object.keys(Object(texts)).map((tag) => tag.toLowerCase())]
  if (typeof locale !== 'string' || !isLanguageTag(locale) || tags.includes(locale.toLowerCase())) return []
  return problemsAt('locale', `is ${shownName(locale)}; must be one of the languages: ${tags.join(', ')}`)
})
