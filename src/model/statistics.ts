import type { RunStatus } from './run.ts'
import type { Amounts } from './session.ts'

/** Latency in integer milliseconds, within 1.6 % of the exact value. */
export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** What happened in one step of {@link Statistics}. */
export interface StatisticsBucket {
  /** RFC 3339. */
  readonly startsAt: string
  /** Accepted dispatches. */
  readonly accepted: number
  /** Deliveries that a provider accepted. */
  readonly sent: number
  /** Attempts after which a delivery was queued again. */
  readonly retried: number
  /** Failed deliveries by reason; `expired` for those past their expiry. */
  readonly failed: Readonly<Record<string, number>>
  /** Skipped deliveries by reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** Time from acceptance to the provider's acceptance, of sent deliveries that were not deferred. Absent: none was sent. */
  readonly latencyMs?: Latency
  /** Runs that were first recorded. */
  readonly runs: number
  /** Runs by the status with which they first ended. */
  readonly ended: Readonly<Partial<Record<RunStatus, number>>>
  /** Amounts that runs added and applications metered. Below 0 after corrections. */
  readonly byApplication: Amounts
  /** Amounts that runs added and only agents reported. Below 0 after corrections, and when an application meters a run later. */
  readonly byAgent: Amounts
}

/** Deliveries that are due and not yet claimed. */
export interface DueNow {
  /** Counted up to 10,000. */
  readonly count: number
  /** True if there may be more. */
  readonly isMore: boolean
  /** Milliseconds since the oldest one was due. Absent: none is due. */
  readonly oldestMs?: number
}

/** Statistics of a tenant: counts of all processes in buckets of equal length, and what is due now. */
export interface Statistics {
  readonly windowMs: number
  readonly stepMs: number
  /** Oldest first, without gaps. The last one contains the present. */
  readonly buckets: readonly StatisticsBucket[]
  /** Absent in a host that only records runs. */
  readonly due?: DueNow
  /** Workers of all tenants with a heartbeat in the last 30 seconds. */
  readonly workersAlive: number
}
