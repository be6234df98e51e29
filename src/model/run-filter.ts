import type { RunStatus } from './run.ts'

/** Filter of runs: those that match all given members. */
export interface RunFilter {
  readonly sessionId?: string | undefined
  readonly status?: RunStatus | undefined
  readonly provider?: string | undefined
  /** The requested model. */
  readonly model?: string | undefined
  readonly userId?: string | undefined
  readonly tag?: string | undefined
}
