import { it } from 'vitest'
import { CALLER_CODES } from '../../../src/errors.ts'
import { explainRefusal } from '../../../src/plugins/agent-tokens/console/explain-refusal.ts'
import { isExplained } from '../../console/explained.ts'

it.each(CALLER_CODES)('%s says what it means and what to do next', (value) => {
  isExplained(value, explainRefusal(value))
})
