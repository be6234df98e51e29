import { type Check, type Checks, nested } from '../../../options/read-options.ts'
import { localeRule, pageCss, pageLocale, pageText, pageTexts } from '../../../pages/page-options.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'
import { ANSWER_TEXTS } from './texts/built-in-texts.ts'

/**
 * Options of the answer page. The page is in the language that the browser asks for, among English, German, French, Spanish, Italian,
 * Portuguese, Dutch and those of `texts`. All texts are escaped.
 */
export interface AnswerPageOptions {
  /** Name of the host, above the heading. Default: none. */
  readonly name?: string
  /** Heading and title, in every language. Default: `Approval request` in the page's language. */
  readonly title?: string
  /** Replaces texts, or adds languages, by BCP 47 tag. Texts that a language lacks are those of its shorter tag, then English. */
  readonly texts?: Readonly<Record<string, Partial<AnswerTexts>>>
  /** Language for browsers that accept none of the others: one of them, as a BCP 47 tag. Default: `en`. */
  readonly locale?: string
  /** CSS rules after those of the page. The page's policy allows no images, fonts or imports. At most 65,536 characters. */
  readonly css?: string
}

const CHECKS: Checks<AnswerPageOptions> = {
  name: pageText,
  title: pageText,
  texts: pageTexts(ANSWER_TEXTS.en),
  locale: pageLocale,
  css: pageCss,
}

/** Checks {@link AnswerPageOptions}. */
export const answerPageOptions: Check = nested<AnswerPageOptions>(CHECKS, localeRule(ANSWER_TEXTS))
