import type { Run } from '../model/run.ts'

/** A run that has come to its end. */
export interface EndedRun extends Run {
  readonly tenant: string
}

/** Passes runs on to another system as they end. */
export interface RunExporter {
  /**
   * Called once for every run, in the process that recorded it, with what was known when it first came to an end (`expired`
   * among them). It returns at once, and nobody waits for its promise; what it throws, or rejects with, is logged and changes
   * nothing.
   */
  export(run: EndedRun): void | Promise<void>
}
