import type { ConditionTrace } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'
import type { FactPath } from './fact-path.ts'

/** Input of a condition: `data` and `recipient`, plain JSON values. */
export type ConditionFacts = Readonly<Record<string, unknown>>

/** Result of a condition. A false one has a `trace`. */
export type Decision =
  | { readonly outcome: 'true' }
  | { readonly outcome: 'false'; readonly trace: readonly ConditionTrace[] }
  /**
   * Evaluation failed: the channel fails closed. `detail` must hold no value of the facts. `cause` is the thrown value, for the log
   * and `onError` only. The catalogue sets `isLibrary` when an engine threw the cause: its message can quote facts.
   */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown; readonly isLibrary?: boolean }

/** A value of the facts that a rule reads. */
export interface ConditionRead {
  readonly path: FactPath
  /** JSON Pointer into the rule. */
  readonly pointer?: string
}

/** A compiled rule, reusable. */
export interface CompiledCondition {
  /** Must not throw. */
  (facts: ConditionFacts): Decision
  /** Paths that the rule reads, as `reads` of a compiled template. Default: no path is checked. */
  readonly reads?: readonly ConditionRead[]
}

/** Reason why a rule does not compile. */
export interface ConditionFault {
  readonly fault: string
  /** JSON Pointer into the rule. */
  readonly pointer: string
  /** Further faults of the rule, if the engine could go on. Default: none. */
  readonly more?: readonly ConditionFault[]
}

/** Compiles the JSON rules of a catalogue once, when it is defined. */
export interface ConditionEngine {
  /** Returns the rule, or the fault that stops start-up. Must be synchronous, read own properties only, and limit size and work. */
  compile(rule: JsonValue): CompiledCondition | ConditionFault
}
