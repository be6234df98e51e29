import type { JsonObject, JsonValue } from './json.ts'

/**
 * The status of a run. `queued`, `running` and `waiting` may follow one another; the others are final, and a final run never
 * reopens. Only the stale sweep sets `expired`; a final status that arrives later replaces it.
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

/** The reason why a run waits. */
export type WaitingFor = 'input' | 'approval' | 'auth' | 'tool'

/** The agent of a run. */
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

/** The cost of a run. `amount` is an exact decimal. */
export interface RunCost {
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
  readonly source: 'provider' | 'local' | 'client'
  readonly pricingVersion?: string
}

/**
 * Absolute totals, never deltas; an unknown count is absent, never 0. `inputTokens` includes tokens read from and written to a
 * cache, `outputTokens` includes reasoning. Up to 32 custom counters may stand beside the known ones.
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

/** Times and durations of a run. Durations are integer milliseconds. `Instant` is a number or a string. */
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

/** The fields that a post, an update and a run share. */
export interface RunFields<Instant> {
  readonly runId: string
  readonly provider?: string
  /** The model that was asked for. */
  readonly model?: string
  /** The model that answered. */
  readonly responseModel?: string
  /** Increases with every post of a run; orders its last-writer-wins fields. */
  readonly seq?: number
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  /** 1: the first. */
  readonly attempt?: number
  readonly agent?: RunAgent
  readonly timings?: RunTimings<Instant>
  readonly counts?: RunCounts
  /** Whether counts and cost include child runs: `self` (default) does not, `tree` does. */
  readonly countsScope?: 'self' | 'tree'
  readonly usageByModel?: readonly ModelUsage[]
  readonly cost?: RunCost
  readonly finishReason?: string
  readonly waitingFor?: WaitingFor
  readonly error?: RunError
  /** W3C trace context: 32 and 16 hex digits. */
  readonly trace?: { readonly traceId: string; readonly spanId: string }
  /** Self-reported by the agent: no proof of identity. Check it before you send anything to that user. */
  readonly userId?: string
  readonly environment?: string
  readonly tags?: readonly string[]
}

/** One valid, normalised post about a run, for `mergeRun`. Instants are epoch milliseconds. */
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
  /** The time of the last post, whether or not it changed the run. */
  readonly lastSeenAt: string
  /** Counts the posts that changed the run. */
  readonly revision: number
}

/** The fields that belong to a final status. */
export type FinalFields = {
  readonly endedAt?: number
  readonly durationMs?: number
  readonly error?: JsonObject
  readonly finishReason?: string
}

/** A status, and the `seq` of its post; -1 when the post had none. */
export interface StatusReport {
  readonly status: RunStatus
  readonly seq: number
}

/**
 * The stored state of a run: for every field the facts that a merge with any other post, in any order, needs. Plain JSON.
 * `mergeRun` makes it, a `RunStore` keeps it, `facetsOf` gives its searchable fields. Stores need no other part of it.
 */
export interface RunState {
  readonly runId: string
  readonly sessionId: string
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  readonly attempt?: number
  /** The greatest posted `seq`; -1: none. */
  readonly seq: number
  readonly status?: RunStatus
  readonly earliest: { readonly queuedAt?: number; readonly startedAt?: number; readonly firstTokenAt?: number }
  readonly counts: Readonly<Record<string, number>>
  readonly final: FinalFields
  /** The last-writer-wins registers, by path, such as `model`, `agent.name` or `timings.toolMs`. */
  readonly latest: Readonly<Record<string, JsonValue>>
  /** `null`: deleted. It wins over any other value of the same `seq`. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null>>
  /** Sorted. */
  readonly tags: readonly string[]
  /** The `seq` of `status` and of paths in `latest` and `metadata`, where it differs from `seq`. */
  readonly seqs?: Readonly<Record<string, number>>
  /** The status that a field of `final` came with, where it differs from the run's: the field is not shown then. */
  readonly finalWith?: Readonly<Record<string, StatusReport>>
}

/** A status that a run ends with. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'running' | 'waiting'>

/** The cause of a run event: the run ended, or it may have used up a budget. */
export type RunSignal = EndStatus | 'budget'

/** Data that Sallyport derives from a run's posts. Plain JSON. */
export interface DerivedRunData {
  /** Calculated from its counts by the price book, and kept as first calculated. */
  readonly cost?: RunCost
  /** The cost of each model in `usageByModel`, in their order, if `cost` is their sum. */
  readonly shares?: readonly RunCost[]
  /** The ends that the run reached, in order: a later post may replace one by another. */
  readonly ended: readonly EndStatus[]
  /** The outbox: signals whose events are not published yet. */
  readonly pending: readonly RunSignal[]
  /** Its totals count as if it had no parent, since it would be its own ancestor. */
  readonly top?: true
}

/** A failed run, as its session keeps it. */
export interface RunFailure {
  readonly runId: string
  /** When the failure was recorded, epoch milliseconds. */
  readonly at: number
  /** The user that the run names. */
  readonly userId?: string
  readonly error?: RunError
}
