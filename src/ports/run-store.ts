import type { DerivedRunData, RunFailure, RunState, RunStatus } from '../model/run.ts'
import type { Spend, Totals } from '../model/totals.ts'
import type { Page } from './dispatch-query.ts'
import type { SessionQuery } from './session-query.ts'

/** A stored run. Instants are epoch milliseconds, by the store's clock. */
export interface StoredRun {
  readonly tenant: string
  readonly state: RunState
  readonly derived: DerivedRunData
  readonly createdAt: number
  /** Time of the last change of its state. */
  readonly updatedAt: number
  /** Time of the last sign of life, even if it did not change the state. */
  readonly lastSeenAt: number
  /** 1 when the run is created; each change of its state adds 1. */
  readonly revision: number
}

/** A stored session. Created by its first run or by {@link RunStore.openSession}. */
export interface StoredSession {
  readonly tenant: string
  readonly sessionId: string
  readonly createdAt: number
  /** Time of the last change of the state of one of its runs. */
  readonly updatedAt: number
  /** Sum of all amounts that merges added to the session. */
  readonly totals: Totals
  /** Failures that the last merge stored; empty at first. */
  readonly failures: readonly RunFailure[]
}

/** Identifies a run. Two sessions may have runs of the same id. */
export interface RunKey {
  readonly tenant: string
  readonly sessionId: string
  readonly runId: string
}

/** Identifies the run of a merge. */
export interface MergeKey extends RunKey {
  /** The parent that the post names; used for {@link MergeSnapshot.newAncestors}. */
  readonly parentRunId?: string | undefined
}

/** An ancestor of a run, in the same session. A run that is only named as a parent need not be stored. */
export interface RunAncestor {
  readonly runId: string
  readonly run?: StoredRun
  /** Sum of the amounts that merges added for its descendants. */
  readonly descendants?: Totals
}

/** Stored state that a merge decides on. */
export interface MergeSnapshot {
  readonly run?: StoredRun | undefined
  readonly session?: StoredSession | undefined
  readonly descendants?: Totals | undefined
  /**
   * Ancestors within the key's session, nearest first: the parent of the stored run, its parent, and so on. A run that counts as one without a
   * parent has none. The list ends after a run that the session does not have or that has no such parent, and after 32 runs.
   * No run is listed twice: in a cycle the run itself is the last.
   */
  readonly ancestors: readonly RunAncestor[]
  /** The same, beginning with the parent that the key names; absent if it names none, or the first of `ancestors`. */
  readonly newAncestors?: readonly RunAncestor[] | undefined
}

/**
 * Amounts that a merge adds to sums of the key's tenant and session, each number to the number of its name. Read only: may share parts
 * with the state.
 */
export interface TotalsChanges {
  readonly session: Totals
  /** For the descendants of these runs, stored or not. */
  readonly descendants: readonly { readonly runId: string; readonly add: Totals }[]
  /** Daily spend: on the UTC day of `at` (epoch milliseconds), given for decreases, or else today by the store's clock. */
  readonly users: readonly { readonly userId: string; readonly add: Spend; readonly at?: number }[]
}

/** Decision of a merge. Absent members leave stored data unchanged. */
export interface MergeDecision<T> {
  readonly result: T
  /** State of the key's run. Replaces the stored one and adds 1 to the revision; creates the run and its session when absent. */
  readonly state?: RunState | undefined
  /** Replaces the derived data without a new revision. A created run always has it. */
  readonly derived?: DerivedRunData | undefined
  /** The post is a sign of life: `lastSeenAt` changes. */
  readonly touched?: boolean
  /** Ignored when the session does not exist and this decision does not create it. */
  readonly totalsChanges?: TotalsChanges | undefined
  readonly failures?: readonly RunFailure[] | undefined
}

/** Result of a merge. `run` is the run as stored now; absent when none was stored before and after. */
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
  /** No sign of life for more than this many milliseconds, by the store's clock. */
  readonly silentForMs?: number | undefined
  /** Only runs with unpublished run events. */
  readonly pending?: true | undefined
  /** Order by creation. Default: `oldest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Filter of {@link RunStore.removeRuns}: runs that match every member and have no pending run events. */
export interface RemovalQuery {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  readonly status: readonly RunStatus[]
  /** Unchanged for more than this many milliseconds, by the store's clock. */
  readonly unchangedForMs: number
  readonly limit: number
}

/**
 * Stores runs and their sessions. A run id is unique within its session: no method may show or change the run of that id in another
 * session.
 *
 * Every method throws when the store is unavailable (503 `store_unavailable`) and must then have changed nothing. Results of
 * `find…` and `list…` are copies. Callers read the arguments and results of `mergeRun`, and a session's totals, at once and never
 * change them.
 */
export interface RunStore {
  /**
   * Reads a run, its session and its ancestors, calls `decide`, and writes the decision in one serializable transaction: of two
   * concurrent merges in one session, the second reads the first one's writes. `decide` is pure and may be called again (optimistic
   * concurrency).
   */
  mergeRun<T>(key: MergeKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>): Promise<Merged<T>>
  findRun(key: RunKey): Promise<StoredRun | undefined>
  listRuns(query: RunQuery): Promise<Page<StoredRun>>
  /** Creates the session if it does not exist. */
  openSession(tenant: string, sessionId: string): Promise<StoredSession>
  findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined>
  listSessions(query: SessionQuery): Promise<Page<StoredSession>>
  /** Sums the amounts that merges added for a user since a day; days since 1970, UTC. */
  findSpend(tenant: string, userId: string, sinceDay: number): Promise<Spend>
  /**
   * Removes runs; sums remain. Keeps runs with pending run events, which do not count towards the limit. Resolves to the number of
   * removed runs; fewer than `limit` means that none is left, except runs that other calls are writing to.
   */
  removeRuns(query: RemovalQuery): Promise<number>
  /**
   * Removes a session with its runs and sums. Or removes the runs that name a user, as the application's or an agent's, the user's
   * spend (also in sums of descendants), and every session failure of these runs or that names the user, even of a removed run.
   * Descendants that name no user remain. Pending run events are removed too. Resolves to the number of removed runs.
   */
  erase(tenant: string, of: { readonly sessionId: string } | { readonly userId: string }): Promise<number>
  /** Resolves once usable; otherwise throws `config_invalid` with the remedy, such as a migration. Default: always ready. */
  ready?(): Promise<void>
}
