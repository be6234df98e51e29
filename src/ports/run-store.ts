import type { DerivedRunData, RunFailure, RunState, RunStatus } from '../model/run.ts'
import type { Spend, Totals } from '../model/totals.ts'
import type { Page } from './dispatch-query.ts'

/** A run as it is stored. Instants are epoch milliseconds, by the store's clock. */
export interface StoredRun {
  readonly tenant: string
  readonly state: RunState
  readonly derived: DerivedRunData
  readonly createdAt: number
  /** When its state last changed. */
  readonly updatedAt: number
  /** When the last sign of life arrived, whether or not it changed the state. */
  readonly lastSeenAt: number
  /** 1 when the run is created; each change of its state adds 1. */
  readonly revision: number
}

/** A session as it is stored. Its first run creates it, or {@link RunStore.openSession}. */
export interface StoredSession {
  readonly tenant: string
  readonly sessionId: string
  readonly createdAt: number
  /** When the state of one of its runs last changed. */
  readonly updatedAt: number
  /** Sum of everything that merges added to the session. */
  readonly totals: Totals
  /** The failures that the last merge left; empty at first. */
  readonly failures: readonly RunFailure[]
}

/** Identifies the run of a merge. */
export interface RunKey {
  readonly tenant: string
  readonly sessionId: string
  readonly runId: string
  /** The parent that the post names; used for {@link MergeSnapshot.ancestors}. */
  readonly parentRunId?: string | undefined
}

/** An ancestor of a run. A run that is only named as a parent need not be stored. */
export interface RunAncestor {
  readonly runId: string
  readonly run?: StoredRun
  /** Sum of what merges added for its descendants. */
  readonly descendants?: Totals
}

/** The stored state that a merge decides on. */
export interface MergeSnapshot {
  readonly run?: StoredRun | undefined
  /** The session of the key. */
  readonly session?: StoredSession | undefined
  /** Sum of what merges added for the run's descendants. */
  readonly descendants?: Totals | undefined
  /**
   * Ancestors within the key's session, nearest first: the parent that the state names (or else the key), its parent, and so on.
   * The list ends with a run that is not stored in the session, that names no parent, or whose derived data has `top`, and after
   * 32 runs. No run is listed twice: in a cycle the run itself is the last. Empty when the run's own derived data has `top`.
   */
  readonly ancestors: readonly RunAncestor[]
}

/**
 * What a merge adds to sums of the key's tenant and session. `addTotals` and `addSpend` of `sallyport/storage/rules` do the
 * arithmetic, on sums that begin as `noTotals()` and `noSpend()`; `documentStore` does it for stores of four methods. Read only: it
 * may share parts with the state.
 */
export interface TotalsChanges {
  readonly session: Totals
  /** For the descendants of these runs, stored or not. */
  readonly descendants: readonly { readonly runId: string; readonly add: Totals }[]
  /**
   * For what users spend on a day: the UTC day of `at` (epoch milliseconds), or else today by the store's clock. `at` is given
   * when the sum goes down, so that a correction of an earlier day leaves today's sum as it is.
   */
  readonly users: readonly { readonly userId: string; readonly add: Spend; readonly at?: number }[]
}

/** The decision of a merge. Absent members leave what is stored as it is. */
export interface MergeDecision<T> {
  readonly result: T
  /** Replaces the state and adds 1 to the revision; creates the run, and its session, when they are absent. */
  readonly state?: RunState | undefined
  /** Replaces the derived data without a new revision. A created run always has it. */
  readonly derived?: DerivedRunData | undefined
  /** Whether the post is a sign of life: it moves `lastSeenAt`. */
  readonly touched?: boolean
  /** Ignored when the session does not exist and this decision does not create it. */
  readonly totalsChanges?: TotalsChanges | undefined
  /** Replaces the failures of the session. */
  readonly failures?: readonly RunFailure[] | undefined
}

/** The result of a merge. `run` is stored now; absent when nothing was stored before and after. */
export interface Merged<T> {
  readonly result: T
  readonly run?: StoredRun
}

/** Filter of {@link RunStore.listRuns}: runs that match every given member, compared with `facetsOf`. */
export interface RunQuery {
  /** Default: all tenants, for maintenance. */
  readonly tenant?: string | undefined
  readonly sessionId?: string | undefined
  readonly status?: readonly RunStatus[] | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly userId?: string | undefined
  readonly tag?: string | undefined
  /** Created at or after this instant, epoch milliseconds. */
  readonly since?: number | undefined
  /** Created before this instant, epoch milliseconds. */
  readonly until?: number | undefined
  /** Without a sign of life for more than this many milliseconds, by the store's clock. */
  readonly silentForMs?: number | undefined
  /** Only runs with run events that are not published yet. */
  readonly pending?: true | undefined
  /** Order by creation. Default: `oldest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  /** The most runs to give. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** Filter of {@link RunStore.removeRuns}: runs that match every member and have no pending run events. */
export interface RemovalQuery {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  readonly status: readonly RunStatus[]
  /** Unchanged for more than this many milliseconds, by the store's clock. */
  readonly unchangedForMs: number
  /** The most runs to remove. */
  readonly limit: number
}

/**
 * Stores runs and their sessions. A run id is unique within its tenant.
 *
 * Every method throws when the store is unavailable (503 `store_unavailable`) and must then have changed nothing. Results of the
 * `find…` and `list…` methods share nothing with the store. Callers read the arguments and results of `mergeRun`, and a session's
 * totals, at once and never change them.
 */
export interface RunStore {
  /**
   * Reads a run, its session and its ancestors, calls `decide`, and writes the decision, all as one serializable transaction: of
   * two concurrent merges in one session, the second sees what the first wrote. `decide` is pure and may be called again
   * (optimistic concurrency).
   */
  mergeRun<T>(key: RunKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>): Promise<Merged<T>>
  findRun(tenant: string, runId: string): Promise<StoredRun | undefined>
  listRuns(query: RunQuery): Promise<Page<StoredRun>>
  /** Creates the session if it does not exist. */
  openSession(tenant: string, sessionId: string): Promise<StoredSession>
  findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined>
  /** Sum of what merges added for a user from a day on; days since 1970, UTC. */
  findSpend(tenant: string, userId: string, sinceDay: number): Promise<Spend>
  /**
   * Removes runs and leaves every sum as it is. Keeps runs with pending run events; they do not count towards the limit.
   * Resolves to the number of removed runs. Fewer than `limit` means that no run is left to remove, except runs that other
   * calls are writing to.
   */
  removeRuns(query: RemovalQuery): Promise<number>
  /**
   * Removes a session with its runs and sums. Or removes the runs that name a user, the user's spend (also in sums of
   * descendants), and every failure in a session that names the user, whether its run is still stored or not. Descendants that
   * name no user stay. Pending run events go too. Resolves to the number of removed runs.
   */
  erase(tenant: string, of: { readonly sessionId: string } | { readonly userId: string }): Promise<number>
  /**
   * Resolves once the store can be used. Throws a `SallyportError` (`config_invalid`) that says what to do otherwise, for example
   * when the database is not migrated. Default: always ready.
   */
  ready?(): Promise<void>
}
