import { it } from 'vitest'
import { SUPPRESSION_REASONS } from '../../../src/model/suppression.ts'
import { explainSuppression } from '../../../src/plugins/consent/console/explain-suppression.ts'
import { isExplained } from '../../console/explained.ts'

it.each(SUPPRESSION_REASONS)('%s says what it means and what to do next', (value) => {
  isExplained(value, explainSuppression(value))
})
