import type { Problem } from '../errors.ts'
import type { SessionRunRequest } from '../model/run-post.ts'
import type { Client } from './client.ts'

/** As much of Node's `process` as is needed to end runs with it. */
export interface ProcessLike {
  readonly pid: number
  on(event: 'beforeExit', listener: (code: number) => void): unknown
  on(event: 'SIGTERM' | 'SIGINT', listener: (signal: string) => void): unknown
  off(event: string, listener: (event: unknown) => void): unknown
  listenerCount(event: string): number
  kill(pid: number, signal: string): unknown
}

/** How runs are recorded. */
export interface RunRecorderOptions {
  readonly client: Pick<Client, 'recordRuns'>
  /** How often every open run is said to go on, in milliseconds, so that the stale sweep lets it be. Up to 2^31 - 1; 0: never. Default 15,000. */
  readonly heartbeatMs?: number
  /** How long what is told waits for more, in milliseconds. The end of a run waits for none. 1 to 2^31 - 1. Default 1,000. */
  readonly flushMs?: number
  /**
   * Of how many runs something unsent is kept through an outage; one that has more than 20 tags, counts or metadata keys to tell is
   * more than one, and so is one that is started again under its id. Beyond that, what is unsent of a run that has not ended is
   * dropped, or of any: of that first which has told nothing for the longest time. 1 to 1,000,000. Default 1,000.
   */
  readonly maxRuns?: number
  /**
   * Told of what will not be recorded, and why. A problem: the server refused it; where `why.errors` points to single facts, the others
   * are recorded. `bad_answer`: something in between refused it, even alone. `overflow`: there was no room. `closed`: the recorder was
   * closed before. The last two may yet be recorded if they are being sent just then. What it throws or rejects with is ignored.
   */
  readonly onDropped?: (post: SessionRunRequest, why: Problem | 'overflow' | 'bad_answer' | 'closed') => void
  /** Where a process may be stopped after its answer: is given a promise for whatever is still to be sent. */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /**
   * Node's `process`: with SIGTERM, SIGINT and at its natural end the open runs end as cancelled and everything is sent, for 2
   * seconds at most. Then the signal is raised anew, if nobody else listens to it.
   */
  readonly endWith?: ProcessLike
}
