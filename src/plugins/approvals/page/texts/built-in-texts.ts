import type { BuiltInTexts } from '../../../../pages/page-languages.ts'
import type { AnswerTexts } from './answer-texts.ts'
import { GERMAN } from './de.ts'
import { ENGLISH } from './en.ts'
import { SPANISH } from './es.ts'
import { FRENCH } from './fr.ts'
import { ITALIAN } from './it.ts'
import { DUTCH } from './nl.ts'
import { PORTUGUESE } from './pt.ts'

export const ANSWER_TEXTS: BuiltInTexts<AnswerTexts> = {
  en: ENGLISH,
  de: GERMAN,
  fr: FRENCH,
  es: SPANISH,
  it: ITALIAN,
  pt: PORTUGUESE,
  nl: DUTCH,
}
