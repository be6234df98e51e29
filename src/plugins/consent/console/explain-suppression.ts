import { type Sentence, sentenceOf } from '../../../console/app/sentences/sentence.ts'
import type { SuppressionReason } from '../../../model/suppression.ts'

const SUPPRESSIONS = {
  bounced: {
    means: 'The address does not exist, or refuses for good.',
    next: 'Ask the recipient for another address.',
  },
  soft_bounced: { means: 'A message did not arrive.', next: 'Wait: it ends by itself.' },
  complained: { means: 'The recipient marked a message as spam.', next: 'Do not remove it.' },
  unsubscribed: {
    means: 'The recipient unsubscribed.',
    next: 'Remove it only if the recipient asks for messages again.',
  },
  manual: { means: 'The host or an operator added it.', next: 'Remove it when its cause is gone.' },
} as const satisfies Record<SuppressionReason, Sentence>

export function explainSuppression(reason: unknown): Sentence {
  return sentenceOf(SUPPRESSIONS, reason)
}
