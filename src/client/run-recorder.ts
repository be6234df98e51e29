import { fn, has, whole } from '../options/checks.ts'
import { type Checks, required } from '../options/read-options.ts'
import { checkOptions } from './check-options.ts'
import type { AsyncDisposing } from './disposal.ts'
import { endWithProcess } from './end-with-process.ts'
import { createOutbox } from './outbox.ts'
import type { RecordedRun, RunStart } from './recorded-run.ts'
import type { RunRecorderOptions } from './run-recorder-options.ts'
import { startRun } from './start-run.ts'
import { withTimeout } from './time-out.ts'

/** Records runs in the background, many at a time. */
export interface RunRecorder extends AsyncDisposing {
  /** Starts a run now. */
  start(run: RunStart): RecordedRun
  /**
   * Records a run around some work, whose result or error it passes on: completed, or failed when the work throws, or cancelled
   * when the run's signal aborts before that.
   */
  record<Result>(run: RunStart, work: (run: RecordedRun) => Result | Promise<Result>): Promise<Result>
  /** Sends all that is unsent now, even if the server asked to be left alone. Resolves when that is recorded, refused, or still unsent after the client's retries. Never rejects. */
  flush(): Promise<void>
  /** Ends the open runs as cancelled, flushes, drops what is unsent still, and stops all timers. Never rejects. */
  close(): Promise<void>
}

const TIMER = 2 ** 31 - 1

const CHECKS: Checks<RunRecorderOptions> = {
  client: required(has('recordRuns')),
  heartbeatMs: whole(0, TIMER),
  flushMs: whole(1, TIMER),
  maxRuns: whole(1, 1_000_000),
  onDropped: fn,
  waitUntil: fn,
  endWith: has('on', 'off', 'listenerCount', 'kill'),
}

/**
 * Makes a recorder: one for a process, or one for each request where requests share nothing.
 *
 * @throws {ClientError} `option_invalid`, with all that is wrong with the options.
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
  const unlisten =
    options.endWith && endWithProcess(options.endWith, () => closeAfter(withTimeout(2000, undefined, end)))
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
