import { ignoreRejection } from '../../../model/thrown.ts'
import type { Decision } from '../../../ports/condition-engine.ts'
import type { EventFacts } from '../../../ports/event-catalog.ts'
import type { CatalogPlace, Compilation, OpenFacts } from './compilation.ts'
import type { ConditionDefinition } from './event-definition.ts'

/** Compiles the condition of an event or a channel, if it has one. */
export function compileCondition(
  definition: ConditionDefinition<unknown> | undefined,
  place: CatalogPlace,
  { engines: { conditions }, problems }: Compilation,
): ((facts: OpenFacts) => Decision) | undefined {
  if (definition === undefined) return undefined
  if (typeof definition === 'function') return (facts) => decide(definition, facts)
  if (!conditions) {
    const detail = "is a JSON rule: pass { conditions: jsonLogic() } with jsonLogic from 'sallyport/json-logic'"
    problems.push({ ...place, detail })
    return undefined
  }
  if (typeof conditions.compile !== 'function') return undefined
  const compiled = conditions.compile(definition)
  if (typeof compiled === 'function') return (facts) => fromEngine(compiled(facts))
  problems.push({ ...place, pointer: compiled.pointer, detail: compiled.fault })
  return undefined
}

function fromEngine(decision: Decision): Decision {
  return decision.outcome === 'error' ? { ...decision, isLibrary: true } : decision
}

function decide(condition: (facts: EventFacts) => boolean, facts: EventFacts): Decision {
  try {
    const result: unknown = condition(facts)
    ignoreRejection(result)
    if (result === true) return { outcome: 'true' }
    if (result === false) return { outcome: 'false', trace: [{ rule: 'function', result: false }] }
    return { outcome: 'error', detail: 'the condition function gave no boolean' }
  } catch (cause) {
    return { outcome: 'error', detail: 'the condition function threw', cause }
  }
}
