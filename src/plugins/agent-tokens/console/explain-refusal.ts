import { CODE_TEXTS } from '../../../code-texts.ts'
import { type Sentence, sentenceOf } from '../../../console/app/sentences/sentence.ts'

/** Why a request of a token was refused. */
export function explainRefusal(code: unknown): Sentence {
  return sentenceOf(CODE_TEXTS, code)
}
