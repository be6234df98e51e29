import type { DispatchView } from './dispatch.ts'
import type { Run, RunAgent, RunCounts, RunError, RunStatus } from './run.ts'

/** An amount in one currency: an exact decimal, and ISO 4217. */
export interface Money {
  readonly amount: string
  readonly currency: string
}

/** What was used and is not in the cost, since nothing knew its price. */
export interface Unpriced {
  readonly runs: number
  readonly tokens: number
}

/** What one model, or one provider, had of a session. */
export interface SessionShare {
  /** Absent where runs did not say. */
  readonly provider?: string
  /** Absent where runs did not say, and for a provider's share. */
  readonly model?: string
  readonly runs: number
  readonly counts: RunCounts
  readonly cost: readonly Money[]
}

/** How a duration is spread over runs: integer milliseconds, within 1.6 % of the exact one. */
export interface Percentiles {
  /** Of so many runs. */
  readonly runs: number
  readonly p50: number
  readonly p95: number
}

/** Where the time of a session went: integer milliseconds, each a sum over the runs that tell. */
export interface SessionTime {
  readonly durationMs?: number
  readonly activeMs?: number
  /** What is left of the durations of the runs that tell how long they were active. */
  readonly waitingMs?: number
  readonly modelMs?: number
  readonly toolMs?: number
}

/** The numbers of a session, kept up to date as runs are recorded. */
export interface SessionTotals {
  readonly runs: {
    readonly total: number
    readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>
  }
  /** Sums over the runs that tell, none counted twice; a count that no run told is absent. */
  readonly counts: RunCounts
  /** Input and output together, of the runs that tell. */
  readonly tokens: number
  /** By currency; empty where nothing is priced. */
  readonly cost: readonly Money[]
  readonly unpriced: Unpriced
  readonly models: readonly SessionShare[]
  readonly providers: readonly SessionShare[]
  /** Of the runs that have ended and tell. */
  readonly duration?: Percentiles
  /** Of the runs that tell, whether or not they have ended. */
  readonly timeToFirstToken?: Percentiles
  readonly time: SessionTime
}

/** A run and those it started. Instants are RFC 3339. */
export interface RunNode {
  readonly runId: string
  readonly status: RunStatus
  readonly agent?: RunAgent
  readonly model?: string
  readonly startedAt?: string
  readonly durationMs?: number
  /** Given where the parent is not above it here: it is on another page, or not recorded. */
  readonly parentRunId?: string
  readonly children: readonly RunNode[]
}

/** What happened in a session, and when: RFC 3339. */
export type TimelineEntry =
  | { readonly type: 'run'; readonly at: string; readonly run: Run }
  | { readonly type: 'dispatch'; readonly at: string; readonly dispatch: DispatchView }

/** A session, rolled up. Instants are RFC 3339. */
export interface Session extends SessionTotals {
  readonly sessionId: string
  readonly createdAt: string
  readonly updatedAt: string
  /** The run that failed last. */
  readonly lastError?: { readonly runId: string; readonly at: string; readonly error?: RunError }
  /** The newest 100 runs, each below the one that started it. */
  readonly tree: readonly RunNode[]
  /** The newest 100 of its runs and dispatches together, oldest first. */
  readonly timeline: readonly TimelineEntry[]
}
