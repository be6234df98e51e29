import type { ConditionTrace } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'

/** What a condition gets to see: `data` and `recipient`, plain JSON values. */
export type ConditionFacts = Readonly<Record<string, unknown>>

/** How a condition came out. `trace` is asked for when it is false. */
export type Decision =
  | { readonly outcome: 'true' }
  | { readonly outcome: 'false'; readonly trace: readonly ConditionTrace[] }
  /**
   * It could not be decided: the channel fails, closed. `detail` must hold no value of the facts. `cause`: what was thrown, for the
   * log and `onError` alone. `isLibrary`, set by the catalogue: an engine gave the cause, whose message can quote facts.
   */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown; readonly isLibrary?: boolean }

/** A rule, ready to be evaluated any number of times. Must not throw. */
export type CompiledCondition = (facts: ConditionFacts) => Decision

/** Why a rule does not compile. */
export interface ConditionFault {
  readonly fault: string
  /** JSON Pointer to the place in the rule. */
  readonly pointer: string
}

/** Compiles the JSON rules of a catalogue, once, when it is defined. */
export interface ConditionEngine {
  /**
   * Gives the compiled rule, or the fault that stops start-up. Must be synchronous, must not see inherited properties,
   * and must bound the size of a rule and the work of evaluating it.
   */
  compile(rule: JsonValue): CompiledCondition | ConditionFault
}
