import type { Run } from '../model/run.ts'

/** A run that has ended. */
export interface EndedRun extends Run {
  readonly tenant: string
}

/** Exports runs to another system when they end. */
export interface RunExporter {
  /**
   * Called once for each run, in the process that recorded its first end (`expired` included), with the data known then. Nothing
   * waits for the promise. A throw or a rejection is logged and changes nothing.
   */
  export(run: EndedRun): void | Promise<void>
}
