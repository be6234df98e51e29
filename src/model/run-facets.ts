import type { RunState, RunStatus } from './run.ts'

/** The fields by which runs are searched. */
export interface RunFacets {
  readonly status: RunStatus
  readonly provider?: string
  readonly model?: string
  readonly userId?: string
  readonly parentRunId?: string
  readonly tags: readonly string[]
}

/** Gives the searchable fields of a run: in a database, its columns. */
export function facetsOf({ status = 'running', latest, parentRunId, tags }: RunState): RunFacets {
  const { provider, model, userId } = latest
  return {
    status,
    tags,
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
    ...(typeof userId === 'string' && { userId }),
    ...(parentRunId !== undefined && { parentRunId }),
  }
}
