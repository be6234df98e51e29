import { withTimeout } from '../model/time-out.ts'
import { fn, has, whole } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'
import { checkOptions } from './check-options.ts'
import { createOutbox } from './outbox.ts'
import { type AsyncDisposing, type RecordedRun, type RunStart, startRun } from './recorded-run.ts'
import type { ProcessLike, RunRecorderOptions } from './run-recorder-options.ts'
import { timers } from './timers.ts'

/** Records runs in the background, in batches. */
export interface RunRecorder extends AsyncDisposing {
  start(run: RunStart): RecordedRun
  /**
   * Records a run around `work`, and returns its result or throws its error. The run ends as `completed`, `failed` if the work throws, or
   * `cancelled` if the run's signal aborts first.
   */
  record<Result>(run: RunStart, work: (run: RecordedRun) => Result | Promise<Result>): Promise<Result>
  /**
   * Sends unsent data now, also during a `Retry-After`. Resolves when it is recorded, refused or unsent after all retries. Never rejects.
   */
  flush(): Promise<void>
  /** Ends open runs as `cancelled`, flushes, drops unsent data, and stops all timers. Never rejects. */
  close(): Promise<void>
}

const MAX_TIMER_MS = 2 ** 31 - 1
const PROCESS_END_MS = 2000

const CHECKS: Checks<RunRecorderOptions> = {
  client: required(has('createClient(…)', 'recordRuns')),
  heartbeatMs: whole(0, MAX_TIMER_MS),
  flushMs: whole(1, MAX_TIMER_MS),
  maxRuns: whole(1, 1_000_000),
  onDropped: fn,
  waitUntil: fn,
  endWith: has('process', 'on', 'off', 'listenerCount', 'kill'),
}

/**
 * Creates a recorder: one per process, or one per request if requests share nothing.
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  checkOptions('createRunRecorder', options, CHECKS)
  const outbox = createOutbox(options)
  const start = (run: RunStart): RecordedRun => startRun(run, outbox)
  const end = async (stop?: AbortSignal): Promise<void> => {
    for (const cancel of outbox.open.values()) cancel()
    await outbox.flush(stop)
  }
  const closeAfter = async (ending: Promise<unknown>): Promise<void> => {
    await ending
    outbox.close()
    unlisten?.()
  }
  const endInTime = (): Promise<void> => {
    const stop = new AbortController()
    const limits = { ms: PROCESS_END_MS, clock: timers, fallback: () => stop.abort() }
    return closeAfter(withTimeout(end(stop.signal), limits))
  }
  const unlisten = options.endWith && endWithProcess(options.endWith, endInTime)
  const close = (): Promise<void> => closeAfter(end())
  return {
    start,
    async record(facts, work) {
      const run = start(facts)
      try {
        const result = await work(run)
        run.complete()
        return result
      } catch (error) {
        run.fail(error)
        throw error
      }
    },
    flush: () => outbox.flush(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Calls `end` when the process ends. Returns a function that removes the listeners. */
function endWithProcess(process: ProcessLike, end: () => Promise<unknown>): () => void {
  const onEnd = async (signal: unknown): Promise<void> => {
    await end()
    if (typeof signal === 'string' && !process.listenerCount(signal)) process.kill(process.pid, signal)
  }
  const each = (method: 'on' | 'off'): void => {
    for (const event of ['SIGTERM', 'SIGINT', 'beforeExit']) process[method](event as 'SIGTERM', onEnd)
  }
  each('on')
  return () => each('off')
}
