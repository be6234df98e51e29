/**
 * Conditions as data, in JSON Logic, behind an allowlist of operators.
 *
 * @module sallyport/json-logic
 */
import type { JsonValue } from '../model/json.ts'
import type { CompiledCondition, ConditionEngine, ConditionFault, Decision } from '../ports/condition-engine.ts'
import { checkRule, type Rule } from './json-logic-check.ts'
import { createEvaluator, StepsExceeded, truthy } from './json-logic-operators.ts'
import { explain } from './json-logic-trace.ts'

/**
 * Evaluates conditions that are written as JSON, in [JSON Logic](https://jsonlogic.com).
 *
 * Available are `and or ! !! if`, `== === != !== < <= > >=`, `in`, `var missing missing_some`, `some none all` and `+ -
 * * / %`; every other operator is refused when the rule is compiled, and so is a rule of more than 256 nodes or more
 * than 16 levels. Paths are literal and start with `data.` or `recipient.`; within `some`, `none` and `all`, whose list
 * is always a `var`, they start at the element, and `''` is the element itself.
 *
 * A path that is absent is `null`: equal to `null` alone, and 0 where it is ordered, as in JavaScript. Only own
 * properties are seen. Lists and objects equal only themselves and have no order; an empty list counts as false.
 * Comparing never fails; arithmetic on what is not a number, and a division by zero, do, and so does an evaluation of
 * more than 100,000 steps (an element of a list times the nodes that look at it): the outcome is then `error`. No code
 * is generated.
 */
export function jsonLogic(): ConditionEngine {
  return { compile }
}

function compile(source: JsonValue): CompiledCondition | ConditionFault {
  const checked = checkRule(source)
  if ('fault' in checked) return checked
  const { rule } = checked
  const { evaluate, reset } = createEvaluator()
  return (facts) => decide(rule, (part) => evaluate(part, facts), reset)
}

function decide(rule: Rule, evaluate: (part: Rule) => unknown, reset: () => void): Decision {
  try {
    reset()
    if (truthy(evaluate(rule))) return { outcome: 'true' }
    reset()
    return { outcome: 'false', trace: explain(rule, evaluate) }
  } catch (error) {
    return describe(error)
  }
}

/** Its detail never repeats what was thrown: it may hold a value of the facts. */
function describe(error: unknown): Decision {
  if (error instanceof StepsExceeded) return { outcome: 'error', detail: error.message }
  if (Number.isNaN(error)) return { outcome: 'error', detail: NO_NUMBER }
  return { outcome: 'error', detail: 'the condition could not be evaluated', cause: error }
}

const NO_NUMBER = 'the condition does arithmetic on something that is not a number, or divides by zero'
