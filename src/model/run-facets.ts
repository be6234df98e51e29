import type { RunState, RunStatus } from './run.ts'
import { shownReport } from './shown-run.ts'

/** Fields for searching runs. */
export interface RunFacets {
  readonly status: RunStatus
  readonly provider?: string
  readonly model?: string
  readonly userId?: string
  /** The user of an agent's token, if the run shows another. */
  readonly agentUserId?: string
  readonly parentRunId?: string
  readonly tags: readonly string[]
}

/** Returns the searchable fields of a run: in a database, its columns. */
export function facetsOf(state: RunState): RunFacets {
  const { status = 'running', latest, parentRunId, tags } = shownReport(state)
  const { provider, model, userId } = latest
  const agentUserId = state.agent?.latest.userId
  return {
    status,
    tags,
    ...(typeof provider === 'string' && { provider }),
    ...(typeof model === 'string' && { model }),
    ...(typeof userId === 'string' && { userId }),
    ...(typeof agentUserId === 'string' && agentUserId !== userId && { agentUserId }),
    ...(parentRunId !== undefined && { parentRunId }),
  }
}
