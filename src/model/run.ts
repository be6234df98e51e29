import type { Warning } from './dispatch.ts'
import type { JsonObject, JsonValue } from './json.ts'

/**
 * Where a run is. `queued`, `running` and `waiting` may follow one another; the others are final, and a final run never
 * reopens. `expired` is set by the stale sweep alone, and a final status that arrives late replaces it.
 */
export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled'
  | 'expired'

/** What a waiting run waits for. */
export type WaitingFor = 'input' | 'approval' | 'auth' | 'tool'

/** Which agent ran. */
export interface RunAgent {
  readonly id?: string
  readonly name?: string
  readonly version?: string
}

/** Why a run failed. */
export interface RunError {
  /** Of low cardinality, such as `rate_limit` or `timeout`. */
  readonly type: string
  readonly message?: string
  readonly code?: string
  readonly retryable?: boolean
}

/** What a run cost. `amount` is an exact decimal. */
export interface RunCost {
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
  readonly source: 'provider' | 'local' | 'client'
  readonly pricingVersion?: string
}

/**
 * Absolute totals, never deltas; a count that is not known is absent, never 0. `inputTokens` includes what was read from and
 * written to a cache, `outputTokens` includes reasoning. Up to 32 counters of one's own may stand beside the known ones.
 */
export interface RunCounts {
  readonly inputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly outputTokens?: number
  readonly reasoningTokens?: number
  readonly totalTokens?: number
  readonly modelCalls?: number
  readonly toolCalls?: number
  readonly toolErrors?: number
  readonly steps?: number
  readonly retries?: number
  readonly messages?: number
  readonly [custom: string]: number | undefined
}

/** One model's share of a run. */
export interface ModelUsage {
  readonly provider: string
  readonly model: string
  readonly counts: RunCounts
  readonly cost?: RunCost
}

/** When it happened and how long it took. Durations are integer milliseconds. `Instant` is a number or a string. */
export interface RunTimings<Instant> {
  readonly queuedAt?: Instant
  readonly startedAt?: Instant
  readonly firstTokenAt?: Instant
  readonly endedAt?: Instant
  readonly durationMs?: number
  readonly activeMs?: number
  readonly modelMs?: number
  readonly toolMs?: number
  readonly timeToFirstTokenMs?: number
}

/** The parts that a post, an update and a run have in common. */
interface RunFields<Instant> {
  readonly runId: string
  readonly provider?: string
  /** The model that was asked for. */
  readonly model?: string
  /** The model that answered. */
  readonly responseModel?: string
  /** Grows with every post of a run: orders what cannot be ordered otherwise. */
  readonly seq?: number
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  /** 1 for the first. */
  readonly attempt?: number
  readonly agent?: RunAgent
  readonly timings?: RunTimings<Instant>
  readonly counts?: RunCounts
  /** `self` (default): without child runs. `tree`: with them. */
  readonly countsScope?: 'self' | 'tree'
  readonly usageByModel?: readonly ModelUsage[]
  readonly cost?: RunCost
  readonly finishReason?: string
  readonly waitingFor?: WaitingFor
  readonly error?: RunError
  /** W3C trace context: 32 and 16 hex digits. */
  readonly trace?: { readonly traceId: string; readonly spanId: string }
  readonly userId?: string
  readonly environment?: string
  readonly tags?: readonly string[]
}

/** One post about a run, checked and normalised: the right-hand side of `mergeRun`. Instants are epoch milliseconds. */
export interface RunUpdate extends RunFields<number> {
  readonly sessionId: string
  readonly status?: RunStatus
  /** `null` deletes a key. */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>
}

/** A run as a caller sees it. Instants are RFC 3339. */
export interface Run extends RunFields<string> {
  readonly sessionId: string
  readonly status: RunStatus
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly createdAt: string
  readonly updatedAt: string
  /** Counts the posts that changed the run. */
  readonly revision: number
}

/** A value and the `seq` of the post that gave it; -1 when the post had none. The later wins, then the greater canonical JSON. */
export interface Stamped<T extends JsonValue = JsonValue> {
  readonly value: T
  readonly seq: number
}

/** A value that belongs to a final status: shown only while that status is the run's. */
export interface WithStatus<T extends JsonValue = JsonValue> {
  readonly value: T
  readonly status: RunStatus
  readonly seq: number
}

/**
 * A run as it is stored: for every field what is needed to merge it with any other post in any order. Plain JSON.
 * `mergeRun` makes it, `RunStore` keeps it, nobody else needs to look inside.
 */
export interface RunState {
  readonly runId: string
  readonly sessionId: string
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  readonly attempt?: number
  /** The greatest that was posted; -1: none. */
  readonly seq: number
  readonly status?: Stamped<RunStatus>
  readonly earliest: { readonly queuedAt?: number; readonly startedAt?: number; readonly firstTokenAt?: number }
  readonly counts: Readonly<Record<string, number>>
  readonly final: {
    readonly endedAt?: WithStatus<number>
    readonly durationMs?: WithStatus<number>
    readonly error?: WithStatus<JsonObject>
    readonly finishReason?: WithStatus<string>
  }
  /** By path, such as `model`, `agent.name` or `timings.toolMs`. */
  readonly latest: Readonly<Record<string, Stamped>>
  /** `null`: deleted. It wins over any other value of the same `seq`. */
  readonly metadata: Readonly<Record<string, Stamped<string | number | boolean | null>>>
  /** Sorted. */
  readonly tags: readonly string[]
}

/** What a post said that the run does not show, and what it shows instead. */
export interface IgnoredField {
  /** Such as `status` or `timings.endedAt`. */
  readonly field: string
  /**
   * `terminal`: the run had ended. `superseded`: a post with a later `seq`, or of higher rank at the same, said otherwise.
   * `lower_count`, `later_time`: counts keep the greatest, starts the earliest. `not_final`: only a final status has it.
   * `over_limit`: the run holds 128 of these already, which come before it in their order.
   */
  readonly reason: 'terminal' | 'superseded' | 'lower_count' | 'later_time' | 'not_final' | 'over_limit'
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
  /** The provider's own usage object: OpenAI, Anthropic, Gemini or AI SDK. Normalised into `counts`. */
  readonly usage?: JsonObject
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

/** A session rolled up from its runs. Instants are RFC 3339. */
export interface Session {
  readonly sessionId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly runs: {
    readonly total: number
    readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>
  }
  /** Sums over the runs that tell; a count that no run told is absent. */
  readonly counts: RunCounts
}
