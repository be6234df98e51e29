import type { Warning } from './dispatch.ts'
import type { JsonValue } from './json.ts'
import type { ModelUsage, Run, RunCost, RunFields } from './run.ts'

/** What a post said that the run does not show, and what it shows instead. */
export interface IgnoredField {
  /** Such as `status` or `timings.endedAt`. */
  readonly field: string
  /**
   * `terminal`: the run had ended. `superseded`: a post with a later `seq`, or of higher rank at the same, said otherwise.
   * `lower_count`, `later_time`: counts keep the greatest, starts the earliest. `not_final`: only a final status has it.
   * `over_limit`: the run holds 128 of these already, which come before it in their order. `not_granted`: the session token is not
   * for that user.
   */
  readonly reason: 'terminal' | 'superseded' | 'lower_count' | 'later_time' | 'not_final' | 'over_limit' | 'not_granted'
  readonly kept?: JsonValue
}

/** The answer to `POST /api/agents/session/run`. */
export interface RunAnswer {
  readonly created: boolean
  readonly changed: boolean
  readonly ignored: readonly IgnoredField[]
  readonly warnings: readonly Warning[]
  /** Absent with `Prefer: return=minimal`. */
  readonly run?: Run
}

/** What a caller may write for an instant: RFC 3339, or epoch milliseconds. */
export type InstantInput = string | number

/** The `run` of `POST /api/agents/session/run`; only `runId` is required. */
export interface RunPost extends Omit<RunFields<InstantInput>, 'cost' | 'usageByModel'> {
  /** A {@link RunStatus} but `expired`, or one of its aliases. Default: no change; a new run is `running`. */
  readonly status?: string
  /** The provider's own usage object: OpenAI, Anthropic, Gemini, Bedrock or AI SDK, and those that speak as one of them.
   * Normalised into `counts`. */
  readonly usage?: object
  readonly cost?: Omit<RunCost, 'amount'> & { readonly amount: string | number }
  readonly usageByModel?: readonly (Omit<ModelUsage, 'cost'> & {
    readonly cost?: Omit<RunCost, 'amount'> & { readonly amount: string | number }
  })[]
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>
}

/** The body of `POST /api/agents/session/run`. */
export interface SessionRunRequest {
  /** 1-200 visible ASCII characters. */
  readonly sessionId: string
  readonly run: RunPost
}
