import type { RunState, RunStatus } from './run.ts'

/** What runs are looked for by. */
export interface RunFacets {
  readonly status: RunStatus
  readonly provider?: string
  readonly model?: string
  readonly userId?: string
  readonly parentRunId?: string
  readonly tags: readonly string[]
}

/** What a run shows of itself where stores look for it: columns, in a database. */
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
