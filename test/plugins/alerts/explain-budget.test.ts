import { it } from 'vitest'
import { explainBudget } from '../../../src/plugins/alerts/console/explain-budget.ts'
import { isExplained } from '../../console/explained.ts'

it.each(['within', 'soft', 'hard'])('%s says what it means and what to do next', (value) => {
  isExplained(value, explainBudget(value))
})
