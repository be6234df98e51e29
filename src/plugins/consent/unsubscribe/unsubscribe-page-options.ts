import { recordOf } from '../../../options/checks.ts'
import { type Check, type Checks, isRecord, nested } from '../../../options/read-options.ts'
import { byLanguage, localeRule, pageCss, pageLocale, pageText, pageTexts } from '../../../pages/page-options.ts'
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

const localText: Check = (value, given) => (isRecord(value) ? byLanguage(pageText) : pageText)(value, given)

const CHECKS: Checks<UnsubscribePageOptions> = {
  name: pageText,
  title: pageText,
  texts: pageTexts(UNSUBSCRIBE_TEXTS.en),
  categories: recordOf(localText),
  locale: pageLocale,
  css: pageCss,
}

/** Checks {@link UnsubscribePageOptions}. */
export const unsubscribePageOptions: Check = nested<UnsubscribePageOptions>(CHECKS, localeRule(UNSUBSCRIBE_TEXTS))
