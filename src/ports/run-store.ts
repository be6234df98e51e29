import type { RunState } from '../model/run.ts'
import type { Page } from './dispatch-store.ts'

/** A run as it is stored. Instants are epoch milliseconds, by the store's clock. */
export interface StoredRun {
  readonly tenant: string
  readonly state: RunState
  readonly createdAt: number
  readonly updatedAt: number
  /** 1 when it is created, one more for every write. */
  readonly revision: number
}

/** A session as it is stored: it begins with its first run, or when it is opened. */
export interface StoredSession {
  readonly tenant: string
  readonly sessionId: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a merge found, before it decides. */
export interface MergeSight {
  readonly current: RunState | undefined
  readonly sessionExists: boolean
}

/** What a merge decided: `write` replaces the stored state, or creates the run and, if need be, its session. */
export interface MergeDecision<T> {
  readonly write?: RunState
  readonly result: T
}

/** What a merge came to. `run` is what is stored now; absent when nothing was and nothing is. */
export interface Merged<T> {
  readonly result: T
  readonly run?: StoredRun
}

/** Which runs {@link RunStore.listRuns} gives. */
export interface RunQuery {
  readonly tenant: string
  readonly sessionId?: string
  /** At most so many. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

/**
 * Keeps runs and their sessions. A run id is unique within its tenant.
 *
 * Every method throws when the store is unavailable (503 `store_unavailable`) and must then have changed nothing. What the
 * `find…` and `list…` methods give may not be aliased; what `mergeRun` shows and gives is read at once and never changed.
 */
export interface RunStore {
  /**
   * Reads a run, lets `decide` say what becomes of it, and writes that, as if no other call came between: of two concurrent
   * merges of one run, the second sees what the first wrote. `decide` is pure and may be called again.
   */
  mergeRun<T>(
    key: { readonly tenant: string; readonly sessionId: string; readonly runId: string },
    decide: (sight: MergeSight) => MergeDecision<T>,
  ): Promise<Merged<T>>
  findRun(tenant: string, runId: string): Promise<StoredRun | undefined>
  /** Oldest first. */
  listRuns(query: RunQuery): Promise<Page<StoredRun>>
  /** Makes the session exist, if it does not. */
  openSession(tenant: string, sessionId: string): Promise<StoredSession>
  findSession(tenant: string, sessionId: string): Promise<StoredSession | undefined>
}
