import type { ConfigProblem } from '../../../errors.ts'
import { type Awaitable, andThen } from '../../../model/awaitable.ts'
import { detailsOf } from '../../../model/thrown.ts'
import { wrongReturn } from '../../../options/wrong-return.ts'
import type { CompiledCondition, ConditionFacts, Decision } from '../../../ports/condition-engine.ts'
import type { FieldRendering } from '../../../ports/event-catalog.ts'
import type { CompiledTemplate, TemplateFacts } from '../../../ports/template-engine.ts'

// Engines may be host code: each result is read before it is used.

type Members = Readonly<Partial<Record<string, unknown>>>

const RENDERING = "{ outcome: 'rendered', text }, { outcome: 'missing', path } or { outcome: 'error', detail }"
const DECISION = "{ outcome: 'true' }, { outcome: 'false', trace } or { outcome: 'error', detail }"

/** The rendering of a template engine as that of a field. */
function toField(rendering: unknown): FieldRendering {
  const { outcome, text, path, detail, cause }: Members = Object(rendering)
  if (outcome === 'rendered' && typeof text === 'string') return { outcome, value: text }
  if (outcome === 'missing' && typeof path === 'string') return { outcome, path }
  if (outcome === 'error' && typeof detail === 'string') return { outcome, detail, cause, isLibrary: true }
  return { outcome: 'error', detail: wrongReturn('a template of the engine', rendering, RENDERING).message }
}

/** The decision of a condition engine. */
function toDecision(decision: unknown): Decision {
  const { outcome, trace, detail, cause }: Members = Object(decision)
  if (outcome === 'true') return { outcome }
  if (outcome === 'false' && Array.isArray(trace)) return { outcome, trace }
  if (outcome === 'error' && typeof detail === 'string') return { outcome, detail, cause, isLibrary: true }
  return { outcome: 'error', detail: wrongReturn('a rule of the engine', decision, DECISION).message }
}

const THREW = { outcome: 'error', isLibrary: true } as const

/** A rendering of an engine. A throw is the fault of this field alone. */
export function renderWith(template: CompiledTemplate, facts: TemplateFacts): Awaitable<FieldRendering> {
  try {
    return andThen(template(facts), toField)
  } catch (cause) {
    return { ...THREW, detail: 'the template engine threw', cause }
  }
}

/** A decision of an engine. A throw is an error of this condition alone. */
export function decideWith(rule: CompiledCondition, facts: ConditionFacts): Decision {
  try {
    return toDecision(rule(facts))
  } catch (cause) {
    return { ...THREW, detail: 'the condition engine threw', cause }
  }
}

/** Calls `compile` of an engine. A throw is a fault with the message, which is about a template or rule of the host. */
export function compileWith<Compiled>(
  engine: 'template' | 'condition',
  compile: () => Compiled,
): Compiled | { readonly fault: string } {
  try {
    return compile()
  } catch (cause) {
    return { fault: `compile() of the ${engine} engine threw: ${detailsOf(cause, 'own').message ?? 'no message'}` }
  }
}

/** Why an engine did not compile a template or a rule, and where. */
interface EngineFault extends Pick<ConfigProblem, 'line' | 'column' | 'pointer'> {
  readonly detail: string
}

/** The fault of an engine and those in its `more`. */
export function faultsIn(compiled: unknown, engine: 'template' | 'condition'): readonly EngineFault[] {
  const { more }: Members = Object(compiled)
  return [compiled, ...(Array.isArray(more) ? more : [])].map((fault) => toFault(fault, engine))
}

function toFault(given: unknown, engine: 'template' | 'condition'): EngineFault {
  const { fault, line, column, pointer }: Members = Object(given)
  if (typeof fault !== 'string') {
    const expected = 'a function, or { fault } with the reason'
    return { detail: wrongReturn(`compile() of the ${engine} engine`, given, expected).message }
  }
  return {
    detail: fault,
    ...(typeof line === 'number' && { line }),
    ...(typeof column === 'number' && { column }),
    ...(typeof pointer === 'string' && { pointer }),
  }
}
