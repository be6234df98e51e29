import { type Sentence, sentenceOf } from '../../../console/app/sentences/sentence.ts'
import type { BudgetState } from '../../../model/budget.ts'

const LEVELS = {
  within: { means: 'No limit is reached.', next: 'Nothing to do.' },
  soft: { means: 'The soft limit is reached: the host is warned.', next: 'See which runs spent most.' },
  hard: {
    means: 'The hard limit is reached: the host should start no more runs.',
    next: 'Raise the budget in the host, or end the session.',
  },
} as const satisfies Record<BudgetState['level'], Sentence>

export function explainBudget(level: unknown): Sentence {
  return sentenceOf(LEVELS, level)
}
