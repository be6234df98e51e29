import type { RunApproval } from './approval.ts'
import type { JsonObject, JsonValue } from './json.ts'

/** Status of a run. `queued`, `running`, `waiting` may alternate; the others are final. A later final status replaces `expired`. */
export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled'
  | 'expired'

/** Reason why a run waits. */
export type WaitingFor = 'input' | 'approval' | 'auth' | 'tool'

/** Agent of a run. */
export interface RunAgent {
  readonly id?: string
  readonly name?: string
  readonly version?: string
}

/** Error of a failed run. */
export interface RunError {
  /** Low cardinality, such as `rate_limit` or `timeout`. */
  readonly type: string
  readonly message?: string
  readonly code?: string
  readonly retryable?: boolean
}

/** Cost of a run. `amount` is an exact decimal. */
export interface RunCost {
  readonly amount: string
  /** ISO 4217. */
  readonly currency: string
  readonly source: 'provider' | 'local' | 'client'
  readonly pricingVersion?: string
}

/** Absolute totals; an unknown count is absent, never 0. Input includes cache, output reasoning. Up to 32 custom counters. */
export interface RunCounts {
  readonly inputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  /** Part of `cacheWriteTokens`: written to be kept for one hour. */
  readonly cacheWrite1hTokens?: number
  /** Part of `inputTokens`. */
  readonly audioInputTokens?: number
  /** Part of `inputTokens`. */
  readonly imageInputTokens?: number
  readonly outputTokens?: number
  readonly reasoningTokens?: number
  /** Part of `outputTokens`. */
  readonly audioOutputTokens?: number
  /** Part of `outputTokens`. */
  readonly imageOutputTokens?: number
  readonly totalTokens?: number
  /** Searches that the model's provider bills. No price book has a price for them. */
  readonly billedSearches?: number
  /** Seconds of audio or video that the model's provider bills instead of tokens, rounded up. No price book has a price for them. */
  readonly billedSeconds?: number
  /** Characters that the model's provider bills instead of tokens. No price book has a price for them. */
  readonly billedCharacters?: number
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
  /** Default: that of the run. */
  readonly serviceTier?: string
  readonly counts: RunCounts
  readonly cost?: RunCost
}

/** Times of a run. Durations are integer milliseconds. `Instant` is a number or a string. */
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

/** Fields common to posts, updates and runs. */
export interface RunFields<Instant> {
  readonly runId: string
  readonly provider?: string
  /** The requested model. */
  readonly model?: string
  /** The model that answered. */
  readonly responseModel?: string
  /** The provider's service tier, such as `batch` or `priority`; it has prices of its own. Absent: `standard`. */
  readonly serviceTier?: string
  /** Increases with every post of a run; orders its last-writer-wins fields. */
  readonly seq?: number
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  /** 1-based. */
  readonly attempt?: number
  readonly agent?: RunAgent
  readonly timings?: RunTimings<Instant>
  readonly counts?: RunCounts
  /** `self` (default): counts and cost exclude child runs. `tree`: they include them. */
  readonly countsScope?: 'self' | 'tree'
  readonly usageByModel?: readonly ModelUsage[]
  readonly cost?: RunCost
  readonly finishReason?: string
  readonly waitingFor?: WaitingFor
  readonly error?: RunError
  /** W3C trace context: 32 and 16 hex digits. */
  readonly trace?: { readonly traceId: string; readonly spanId: string }
  /** Self-reported: no proof of identity. Check it before you send anything to that user. */
  readonly userId?: string
  readonly environment?: string
  readonly tags?: readonly string[]
}

/** One valid, normalised post about a run, for `mergeRun`. Instants are epoch milliseconds. */
export interface RunUpdate extends RunFields<number> {
  readonly sessionId: string
  /** Id of the principal that posted. */
  readonly by?: string
  /** Whether its counts of tokens may be wrong. Only a post with `usage` or a count of tokens has it. */
  readonly usageDoubt?: boolean
  readonly status?: RunStatus
  /** `null` deletes a key. */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>>
}

/** Public view of a run. Instants are RFC 3339. */
export interface Run extends RunFields<string> {
  readonly sessionId: string
  readonly status: RunStatus
  readonly metadata?: Readonly<Record<string, string | number | boolean>>
  readonly createdAt: string
  readonly updatedAt: string
  /** Time of the last post, even if it did not change the run. */
  readonly lastSeenAt: string
  /** Number of posts that changed the run. */
  readonly revision: number
  /** Counts of tokens may be wrong (`usage_conflict` or `usage_unread` in an answer), so that the run has no calculated cost. */
  readonly usageDoubt?: true
  /** Ids of the principals that posted. Sorted; at most 16 applications and 16 agents. */
  readonly by?: readonly string[]
  /**
   * JSON pointers to every value that the run would not show, or not so, without its agents' posts: to a field, such as `/status`,
   * or to a member of `agent`, `timings` or `metadata`, such as `/metadata/approved`; never to these three as a whole. All values of a
   * run that no application posted. Absent: none.
   */
  readonly byAgent?: readonly string[]
  /**
   * Its approvals, newest first, at most 20: in a run that is read alone, all; in others, those that are open. Absent: none, or a host without
   * approvals.
   */
  readonly approvals?: readonly RunApproval[]
}

/** A run in an answer. To a session token: what its session's agents reported, and no time or revision. */
export type AnsweredRun = Omit<Run, 'createdAt' | 'updatedAt' | 'lastSeenAt' | 'revision'> &
  Partial<Pick<Run, 'createdAt' | 'updatedAt' | 'lastSeenAt' | 'revision'>>

/** Fields that only a final status has. */
export type FinalFields = {
  readonly endedAt?: number
  readonly durationMs?: number
  readonly error?: JsonObject
  readonly finishReason?: string
}

/** A status, and the `seq` of its post; -1 without one. */
export interface StatusReport {
  readonly status: RunStatus
  readonly seq: number
}

/** The source of a report: an application, or an agent with a session token. An agent changes no value of an application. */
export type RunSource = 'application' | 'agent'

/**
 * The report of one source about a run: for every field, all facts that a merge with any other post, in any order, needs. Plain JSON.
 */
export interface RunReport {
  readonly parentRunId?: string
  readonly resumedFromRunId?: string
  readonly attempt?: number
  /** The greatest posted `seq`; -1: none. */
  readonly seq: number
  readonly status?: RunStatus
  readonly earliest: { readonly queuedAt?: number; readonly startedAt?: number; readonly firstTokenAt?: number }
  readonly counts: Readonly<Record<string, number>>
  /** The greatest token counts of the posts that were in no doubt, where they differ from `counts`: then the run is in doubt. */
  readonly clearCounts?: Readonly<Record<string, number>>
  readonly final: FinalFields
  /** Last-writer-wins registers by path, such as `model`, `agent.name` or `timings.toolMs`. */
  readonly latest: Readonly<Record<string, JsonValue>>
  /** `null`: deleted. Wins over any other value of the same `seq`. */
  readonly metadata: Readonly<Record<string, string | number | boolean | null>>
  /** Sorted. */
  readonly tags: readonly string[]
  /** `seq` of `status` and of paths in `latest` and `metadata`, where it differs from `seq`. */
  readonly seqs?: Readonly<Record<string, number>>
  /** Status that a field of `final` was posted with, where it differs from the run's: then the field is not shown. */
  readonly finalWith?: Readonly<Record<string, StatusReport>>
  /** Ids of the principals that posted. Sorted; at most 16. */
  readonly by?: readonly string[]
}

/**
 * Stored state of a run: what each source reported. Plain JSON. `mergeRun` creates it, a `RunStore` keeps it, `facetsOf` returns its
 * searchable fields. Stores need no other part.
 */
export interface RunState {
  readonly runId: string
  readonly sessionId: string
  readonly application?: RunReport
  readonly agent?: RunReport
}

/** A final status. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'running' | 'waiting'>

/** An end of a run. An end that an agent reported has the prefix `agent:`. */
export type ReportedEnd = EndStatus | `agent:${EndStatus}`

/** A session token whose posts may cause at most `max` run events in its session. */
export interface RunEventLimit {
  /** The principal's `id`, or that of a parent. */
  readonly tokenId: string
  /** 0 to 1,000. */
  readonly max: number
}

/** Data that Sallyport derives from a run's posts. Plain JSON. */
export interface DerivedRunData {
  /** Calculated from its counts by the price book; keeps the first result. */
  readonly cost?: RunCost
  /** Cost of each model in `usageByModel`, in the same order, if `cost` is their sum. */
  readonly shares?: readonly RunCost[]
  /** Ends of the run, in order: a later post may replace one by another, and an application's replaces an agent's. */
  readonly ended: readonly ReportedEnd[]
  /** The outbox: names of signals that are not published yet. */
  readonly pending: readonly string[]
  /** Limits of pending signals, by name: for the end of an agent, the token that reported it and its parents. */
  readonly eventLimits?: Readonly<Record<string, readonly RunEventLimit[]>>
  /**
   * Its totals count as if it had no parent, because it would be its own ancestor. `agent`: only the agents' totals, because only
   * parents that agents named close the circle.
   */
  readonly top?: true | 'agent'
}

/** A failed run, as stored in its session. */
export interface RunFailure {
  readonly runId: string
  /** Time when the failure was recorded, epoch milliseconds. */
  readonly at: number
  /** Only an agent reported the failure. */
  readonly byAgent?: true
  readonly userId?: string
  /** The token's user, if it is not `userId`. */
  readonly agentUserId?: string
  readonly error?: RunError
}
