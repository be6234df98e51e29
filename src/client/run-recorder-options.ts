import type { Problem } from '../errors.ts'
import type { SessionRunRequest } from '../model/run-post.ts'
import type { Client } from './client.ts'

/** The used part of Node's `process`. */
export interface ProcessLike {
  readonly pid: number
  on(event: 'beforeExit', listener: (code: number) => void): unknown
  on(event: 'SIGTERM' | 'SIGINT', listener: (signal: string) => void): unknown
  off(event: string, listener: (event: unknown) => void): unknown
  listenerCount(event: string): number
  kill(pid: number, signal: string): unknown
}

/** Options of {@link createRunRecorder}. */
export interface RunRecorderOptions {
  readonly client: Pick<Client, 'recordRuns'>
  /** Milliseconds between heartbeats of every open run, which keep it from the stale sweep. Up to 2^31 - 1; 0: none. Default 15,000. */
  readonly heartbeatMs?: number
  /** Milliseconds that data waits for further data. The end of a run is sent at once. 1 to 2^31 - 1. Default 1,000. */
  readonly flushMs?: number
  /**
   * Runs whose unsent data is kept during an outage. A run with more than 20 unsent tags, counts or metadata keys counts as several, and
   * so does a restarted run with the same id. Above the limit, data of the run that reported least recently is dropped, open runs first.
   * 1 to 1,000,000. Default 1,000.
   */
  readonly maxRuns?: number
  /**
   * Called with data that is not recorded, and the reason. A problem: the server refused it; if `why.errors` points to single members,
   * the others are recorded. `bad_answer`: an intermediary refused it, even alone. `overflow`: `maxRuns` was reached. `closed`: the
   * recorder was closed. The last two may still be recorded if a send is in flight. Its errors and rejections are ignored.
   */
  readonly onDropped?: (post: SessionRunRequest, why: Problem | 'overflow' | 'bad_answer' | 'closed') => void
  /** For runtimes that stop a process after its response: receives a promise for every pending send. */
  readonly waitUntil?: (work: Promise<unknown>) => void
  /**
   * Node's `process`. On SIGTERM, SIGINT and the natural end, open runs end as `cancelled` and all data is sent, within 2 seconds. The
   * signal is then raised again if it has no other listener.
   */
  readonly endWith?: ProcessLike
}
