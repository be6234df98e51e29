import type { Warning } from './dispatch.ts'
import type { JsonValue } from './json.ts'
import type { AnsweredRun, ModelUsage, RunCost, RunFields } from './run.ts'

/** A posted field that the run does not show, and the value that it shows instead. */
export interface IgnoredField {
  /** Such as `status` or `timings.endedAt`. */
  readonly field: string
  /**
   * `terminal`: the run had ended. `superseded`: a post with a later `seq`, or with the same `seq` and a higher rank, won.
   * `lower_count`, `later_time`: counts keep the greatest value, start times the earliest. `not_final`: only a final status has
   * this field. `over_limit`: the run already has 128 of these that sort before it. `not_granted`: the session token belongs to
   * another user. `application_recorded`: an application reported this field, so that of an agent does not count; without `kept`.
   */
  readonly reason:
    | 'terminal'
    | 'superseded'
    | 'lower_count'
    | 'later_time'
    | 'not_final'
    | 'over_limit'
    | 'not_granted'
    | 'application_recorded'
  readonly kept?: JsonValue
}

/** Answer to `POST /api/agents/session/run`. */
export interface RunAnswer {
  readonly created: boolean
  readonly changed: boolean
  readonly ignored: readonly IgnoredField[]
  readonly warnings: readonly Warning[]
  /** Absent with `Prefer: return=minimal`. */
  readonly run?: AnsweredRun
}

/** An instant in a post: RFC 3339, or epoch milliseconds. */
export type InstantInput = string | number

/** `run` of `POST /api/agents/session/run`; only `runId` is required. */
export interface RunPost extends Omit<RunFields<InstantInput>, 'cost' | 'usageByModel'> {
  /** A {@link RunStatus} except `expired`, or an alias. Default: no change; a new run is `running`. */
  readonly status?: string
  /** The provider's usage object (OpenAI, Anthropic, Gemini, Bedrock, AI SDK, or a similar shape), normalised into `counts`. */
  readonly usage?: object
  readonly cost?: Omit<RunCost, 'amount'> & { readonly amount: string | number }
  readonly usageByModel?: readonly (Omit<ModelUsage, 'cost'> & {
    readonly cost?: Omit<RunCost, 'amount'> & { readonly amount: string | number }
  })[]
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>
}

/** Body of `POST /api/agents/session/run`. */
export interface SessionRunRequest {
  /** 1-200 visible ASCII characters. */
  readonly sessionId: string
  readonly run: RunPost
}
