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
export interface RunFields<Instant> {
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
  /** As its agent says: no proof of who it was, and not to be written to unseen. */
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
  /** When it was last heard of, whether or not that told anything new. */
  readonly lastSeenAt: string
  /** Counts the posts that changed the run. */
  readonly revision: number
}

/** What belongs to a final status. */
export type FinalFields = {
  readonly endedAt?: number
  readonly durationMs?: number
  readonly error?: JsonObject
  readonly finishReason?: string
}

/** A status, and the `seq` of the post that told it; -1 when the post had none. */
export interface StatusReport {
  readonly status: RunStatus
  readonly seq: number
}

/**
 * A run as it is stored: for every field what is needed to merge it with any other post in any order. Plain JSON.
 * `mergeRun` makes it, `RunStore` keeps it; `facetsOf` shows what to look for it by, and nobody else needs to look inside.
 */
export interface RunState {
  readonly runId: string
  readonly sessionId: string
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  readonly attempt?: number
  /** The greatest that was posted; -1: none. */
  readonly seq: number
  readonly status?: RunStatus
  readonly earliest: { readonly queuedAt?: number; readonly startedAt?: number; readonly firstTokenAt?: number }
  readonly counts: Readonly<Record<string, number>>
  readonly final: FinalFields
  /** What was told last, by path, such as `model`, `agent.name` or `timings.toolMs`. */
  readonly latest: Readonly<Record<string, JsonValue>>
  /** `null`: deleted. It wins over any other value of the same `seq`. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null>>
  /** Sorted. */
  readonly tags: readonly string[]
  /** The `seq` of the post that told it, where that is not `seq`: of `status`, and by path of `latest` and `metadata`. */
  readonly seqs?: Readonly<Record<string, number>>
  /** The status that a field of `final` was told with, where that is not the run's: it is not shown then. */
  readonly finalWith?: Readonly<Record<string, StatusReport>>
}

/** A status that a run ends with. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'running' | 'waiting'>

/** What a run gives reason to tell of: that it came to an end, or that it may have used up a budget. */
export type RunSignal = EndStatus | 'budget'

/** What was made of a run here, beside what its posts say. Plain JSON. */
export interface DerivedRunData {
  /** Worked out from its counts, and kept as it was then. */
  readonly cost?: RunCost
  /** Of each model in `usageByModel`, in their order, where the cost is the sum of theirs. */
  readonly shares?: readonly RunCost[]
  /** The ends that it came to, in that order: a later post may replace one by another. */
  readonly ended: readonly EndStatus[]
  /** What was not told of yet. */
  readonly pending: readonly RunSignal[]
  /** It is counted as if it had no parent, since it would be above itself. */
  readonly top?: true
}

/** A run that failed, as its session remembers it. */
export interface RunFailure {
  readonly runId: string
  /** When that was recorded, epoch milliseconds. */
  readonly at: number
  /** The user that the run names. */
  readonly userId?: string
  readonly error?: RunError
}
