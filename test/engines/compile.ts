import { jsonLogic } from '../../src/engines/json-logic.ts'
import { liquid } from '../../src/engines/liquid.ts'
import type { JsonValue } from '../../src/model/json.ts'
import type { ConditionFault, Decision } from '../../src/ports/condition-engine.ts'
import type { Rendering, TemplateFault } from '../../src/ports/template-engine.ts'

const templates = liquid()
const conditions = jsonLogic()

/** Renders once with `data`; a template that does not compile fails the test. */
export async function render(
  source: string,
  data: unknown = {},
  escaping: 'html' | 'none' = 'none',
): Promise<Rendering> {
  const template = templates.compile(source, escaping)
  if (typeof template !== 'function') throw new Error(template.fault)
  return template({ data, recipient: { id: 'user_1' } })
}

/** The rendered text, or the outcome without one. */
export async function text(
  source: string,
  data: unknown = {},
  escaping: 'html' | 'none' = 'none',
): Promise<string | Rendering> {
  const rendering = await render(source, data, escaping)
  return rendering.outcome === 'rendered' ? rendering.text : rendering
}

export function templateFault(source: string, escaping: 'html' | 'none' = 'none'): TemplateFault {
  const template = templates.compile(source, escaping)
  if (typeof template === 'function') throw new Error('the template compiles')
  return template
}

/** Decides once; a rule that does not compile fails the test. */
export function decide(rule: JsonValue, data: unknown = {}, recipient: unknown = { id: 'user_1' }): Decision {
  const condition = conditions.compile(rule)
  if (typeof condition !== 'function') throw new Error(condition.fault)
  return condition({ data, recipient })
}

export function ruleFault(rule: JsonValue): ConditionFault {
  const condition = conditions.compile(rule)
  if (typeof condition === 'function') throw new Error('the rule compiles')
  return condition
}
