import type { Run } from '../model/run.ts'

/** A run that has ended. */
export interface EndedRun extends Run {
  readonly tenant: string
}

/** Exports ended runs to another system. */
export interface RunExporter {
  /**
   * Called for the first end of a run (also `expired`), and for the application's first end after one that only an agent reported
   * (`byAgent` of that one includes `/status`). In the process that recorded the end. Not awaited; errors are only logged,
   * as is a promise that is pending after ten seconds.
   */
  export(run: EndedRun): void | Promise<void>
}
