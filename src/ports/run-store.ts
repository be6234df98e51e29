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
  /** When it was last heard of, whether or not that told anything new. */
  readonly lastSeenAt: number
  /** 1 when it is created, one more for every change of its state. */
  readonly revision: number
}

/** A session as it is stored: it begins with its first run, or when it is opened. */
export interface StoredSession {
  readonly tenant: string
  readonly sessionId: string
  readonly createdAt: number
  /** When the state of one of its runs last changed. */
  readonly updatedAt: number
  /** The sum of all that merges have added to it. */
  readonly totals: Totals
  /** What merges last made of it; empty at first. */
  readonly failures: readonly RunFailure[]
}

/** Which run a merge is about. */
export interface RunKey {
  readonly tenant: string
  readonly sessionId: string
  readonly runId: string
  /** The parent that the post names, for {@link MergeSight.above}. */
  readonly parentRunId?: string | undefined
}

/** A run above another one. One that was named as a parent need not be stored. */
export interface RunAncestor {
  readonly runId: string
  readonly run?: StoredRun
  /** The sum of what was added below it. */
  readonly descendants?: Totals
}

/** What a merge found, before it decides. */
export interface MergeSnapshot {
  readonly run?: StoredRun | undefined
  /** Of the key. */
  readonly session?: StoredSession | undefined
  /** The sum of what was added below the run. */
  readonly descendants?: Totals | undefined
  /**
   * The runs above it within the key's session, nearest first: its parent (the one its state names, or else the key), that
   * one's parent, and so on. The last is one that is not stored there, that names none, or whose account says `top`; or the
   * 32nd. None is listed twice: the run itself, met again, is the last. Empty where the run's own account says `top`.
   */
  readonly ancestors: readonly RunAncestor[]
}

/**
 * What a merge adds to the sums that its store keeps, within the key's tenant and session: with `addTally` and `addSpend`, to sums
 * that began as `noTally` and `noSpend`. It is only read: it may share parts with the state.
 */
export interface TotalsChanges {
  readonly session: Totals
  /** Below these runs, stored or not. */
  readonly descendants: readonly { readonly runId: string; readonly add: Totals }[]
  /**
   * To what these users spend on a day: that of `at` (epoch milliseconds, in UTC), or else today by the store's clock. `at` is
   * there where it goes down, so that a correction of what was spent before leaves today's as it is.
   */
  readonly users: readonly { readonly userId: string; readonly add: Spend; readonly at?: number }[]
}

/** What a merge decided. What is absent is left as it is. */
export interface MergeDecision<T> {
  readonly result: T
  /** Replaces the state, or creates the run and, if need be, its session: one more revision. */
  readonly state?: RunState | undefined
  /** Replaces the account; that is no revision. A run that is created has one. */
  readonly derived?: DerivedRunData | undefined
  /** Whether this is a sign of life of the run. */
  readonly touched?: boolean
  /** Nothing is added where the session does not exist, and is not created by this. */
  readonly totalsChanges?: TotalsChanges | undefined
  /** Replaces those of the session. */
  readonly failures?: readonly RunFailure[] | undefined
}

/** What a merge came to. `run` is what is stored now; absent when nothing was and nothing is. */
export interface Merged<T> {
  readonly result: T
  readonly run?: StoredRun
}

/** Which runs {@link RunStore.listRuns} gives: those that fit all that is said, as `facetsOf` shows them. */
export interface RunQuery {
  /** Absent: of all tenants, for housekeeping. */
  readonly tenant?: string | undefined
  readonly sessionId?: string | undefined
  readonly status?: readonly RunStatus[] | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly userId?: string | undefined
  readonly tag?: string | undefined
  /** Created then or later, epoch milliseconds. */
  readonly since?: number | undefined
  /** Created before then, epoch milliseconds. */
  readonly until?: number | undefined
  /** Last heard of more than so many milliseconds ago, by the store's clock. */
  readonly silentForMs?: number | undefined
  /** Only those whose account has something untold. */
  readonly pending?: true | undefined
  /** By when they were created. Default: `oldest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  /** At most so many. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** Which runs {@link RunStore.removeRuns} removes: those that fit all that is said, and have nothing untold. */
export interface RemovalQuery {
  /** Absent: of all tenants. */
  readonly tenant?: string | undefined
  readonly status: readonly RunStatus[]
  /** Last changed more than so many milliseconds ago, by the store's clock. */
  readonly unchangedForMs: number
  /** At most so many. */
  readonly limit: number
}

/**
 * Keeps runs and their sessions. A run id is unique within its tenant.
 *
 * Every method throws when the store is unavailable (503 `store_unavailable`) and must then have changed nothing. What the
 * `find…` and `list…` methods give may not be aliased; what `mergeRun` shows and gives, and a session's tally, is read at once
 * and never changed.
 */
export interface RunStore {
  /**
   * Reads a run, its session and what is above it, lets `decide` say what becomes of them, and writes that, as if no other call
   * came between: of two concurrent merges in one session, the second sees what the first wrote. `decide` is pure and may be
   * called again.
   */
  mergeRun<T>(key: RunKey, decide: (snapshot: MergeSnapshot) => MergeDecision<T>): Promise<Merged<T>>
  findRun(tenant: string, runId: string): Promise<StoredRun | undefined>
  listRuns(query: RunQuery): Promise<Page<StoredRun>>
  /** Makes the session exist, if it does not. */
  openSession(tenant: string, sessionId: string): Promise<StoredSession>
  findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined>
  /** The sum of what was added for a user on that day and after it; days since 1970, UTC. */
  findSpend(tenant: string, userId: string, sinceDay: number): Promise<Spend>
  /**
   * Removes runs, and leaves every sum as it is. A run whose account has something untold is spared, and does not count towards
   * the limit. Resolves to how many it removed: fewer than `limit`, and nothing is left that may go,
   * but for what others are writing to.
   */
  removeRuns(query: RemovalQuery): Promise<number>
  /**
   * Removes a session with its runs and sums; or the runs that name a user, what the user spent, also below runs, and what
   * sessions say of failures of these runs and of any other that name the user, stored still or not. Runs below them that name
   * nobody stay. What is untold goes too. Resolves to the number of runs.
   */
  erase(tenant: string, of: { readonly sessionId: string } | { readonly userId: string }): Promise<number>
  /**
   * Resolves once the store can be used, and throws a `SallyportError` (`config_invalid`) that says what to do where it cannot: a
   * database that is not migrated, say. Default: it always can.
   */
  ready?(): Promise<void>
}
