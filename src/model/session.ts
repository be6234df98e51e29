import type { ApprovalView } from './approval.ts'
import type { DispatchView } from './dispatch.ts'
import type { Run, RunAgent, RunCounts, RunError, RunStatus } from './run.ts'

/** An exact decimal amount in one currency (ISO 4217). */
export interface Money {
  readonly amount: string
  readonly currency: string
}

/** Tokens and their cost. */
export interface Amounts {
  /** Input plus output. A sum stops at 2^53 - 1, in {@link StatisticsBucket} also at its negative. */
  readonly tokens: number
  /** Exact decimals by currency; empty without any price. */
  readonly cost: readonly Money[]
  /** The sum of tokens stopped. */
  readonly inexact?: true
}

/** Usage without a known price, not included in the cost. */
export interface Unpriced {
  readonly runs: number
  readonly tokens: number
}

/** Share of one model, or one provider, in a session. */
export interface SessionShare {
  /** Absent if the runs did not report it. */
  readonly provider?: string
  /** Absent if the runs did not report it, and for a provider's share. */
  readonly model?: string
  readonly runs: number
  readonly counts: RunCounts
  readonly cost: readonly Money[]
}

/** Percentiles of a duration over runs: integer milliseconds, within 1.6 % of the exact value. */
export interface Percentiles {
  readonly runs: number
  readonly p50: number
  readonly p95: number
}

/** Times of a session: integer milliseconds, each a sum over the runs that report it. */
export interface SessionTime {
  readonly durationMs?: number
  readonly activeMs?: number
  /** Duration minus active time, over the runs that report both. */
  readonly waitingMs?: number
  readonly modelMs?: number
  readonly toolMs?: number
}

/** Totals of a session, updated with each recorded run. A sum stops at 2^53 - 1. */
export interface SessionTotals {
  readonly runs: {
    readonly total: number
    readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>
  }
  /** Sums over the runs that report a count, without double counting. A count that no run reports is absent. */
  readonly counts: RunCounts
  /** Input plus output of the runs that report them. */
  readonly tokens: number
  /** By currency; empty without any price. */
  readonly cost: readonly Money[]
  /** The part of `tokens` and `cost` that only agents reported. */
  readonly byAgent: Amounts
  readonly unpriced: Unpriced
  readonly models: readonly SessionShare[]
  readonly providers: readonly SessionShare[]
  /** Over ended runs that report it. */
  readonly duration?: Percentiles
  /** Over all runs that report it, ended or not. */
  readonly timeToFirstToken?: Percentiles
  readonly time: SessionTime
  /** A sum stopped: it is 2^53 - 1. */
  readonly inexact?: true
}

/** A run with its child runs. Instants are RFC 3339. */
export interface RunNode {
  readonly runId: string
  readonly status: RunStatus
  readonly agent?: RunAgent
  readonly model?: string
  readonly startedAt?: string
  readonly durationMs?: number
  /** Set if the parent is not in this tree: it is on another page, or not recorded. */
  readonly parentRunId?: string
  readonly children: readonly RunNode[]
}

/** An event of a session and its time, RFC 3339. */
export type TimelineEntry =
  | { readonly type: 'run'; readonly at: string; readonly run: Run }
  | { readonly type: 'dispatch'; readonly at: string; readonly dispatch: DispatchView }
  | { readonly type: 'approval'; readonly at: string; readonly approval: ApprovalView }

/** A session with its totals, in a list. Instants are RFC 3339. */
export interface SessionSummary extends SessionTotals {
  readonly sessionId: string
  readonly createdAt: string
  readonly updatedAt: string
  /** The last failed run. */
  readonly lastError?: {
    readonly runId: string
    readonly at: string
    /** Only an agent reported the failure. */
    readonly byAgent?: true
    readonly error?: RunError
  }
}

/** Maximum runs, and maximum timeline entries, of a {@link Session}. */
export const NEWEST_ENTRIES = 100

/** A session with its totals and newest entries. Instants are RFC 3339. */
export interface Session extends SessionSummary {
  /** The newest 100 runs, each under its parent. */
  readonly tree: readonly RunNode[]
  /** The newest 100 runs, dispatches and approvals together, oldest first. */
  readonly timeline: readonly TimelineEntry[]
}
