import type { DerivedRunData, ModelUsage, RunCost, RunError, RunState, WaitingFor } from '../../../model/run.ts'
import type { RunPost } from '../../../model/run-post.ts'
import { reportedWith } from './last-writer-wins.ts'
import { hasEnded, statusOfRun } from './run-status.ts'

/** What a state keeps by last writer, by path. */
interface Latest {
  readonly provider: string
  readonly model: string
  readonly responseModel: string
  readonly countsScope: NonNullable<RunPost['countsScope']>
  readonly waitingFor: WaitingFor
  readonly userId: string
  readonly environment: string
  readonly 'agent.id': string
  readonly 'agent.name': string
  readonly 'agent.version': string
  readonly 'timings.activeMs': number
  readonly 'timings.modelMs': number
  readonly 'timings.toolMs': number
  readonly 'timings.timeToFirstTokenMs': number
  readonly trace: NonNullable<RunPost['trace']>
  readonly cost: RunCost
  readonly usageByModel: readonly ModelUsage[]
}

/** What a state keeps along with a final status. */
interface Final {
  readonly endedAt: number
  readonly durationMs: number
  readonly error: RunError
  readonly finishReason: string
}

/** The value that was written last. Every path has its own type, since `liftRun` alone writes them. */
export function latestOf<Path extends keyof Latest>({ latest }: RunState, path: Path): Latest[Path] | undefined {
  return latest[path] as Latest[Path] | undefined
}

/** The value that goes with the run's status; `undefined` while another status has won. */
export function finalOf<Field extends keyof Final>(state: RunState, field: Field): Final[Field] | undefined {
  const isOther = state.finalWith !== undefined && reportedWith(state, field).status !== state.status
  return isOther ? undefined : (state.final[field] as Final[Field] | undefined)
}

/** Whether the end that goes with the run's status lies before its start: the start is shown for it. */
export function endsBeforeStart(state: RunState): boolean {
  const endedAt = finalOf(state, 'endedAt')
  return endedAt !== undefined && state.earliest.startedAt !== undefined && endedAt < state.earliest.startedAt
}

/** What the run cost: what its posts tell, or else what was worked out. */
export function costOf(state: RunState, { cost }: DerivedRunData): RunCost | undefined {
  return latestOf(state, 'cost') ?? cost
}

/** When the run ended: not before its start. */
export function endedAtOf(state: RunState): number | undefined {
  if (!hasEnded(statusOfRun(state))) return undefined
  return endsBeforeStart(state) ? state.earliest.startedAt : finalOf(state, 'endedAt')
}

/** How long the run took, in milliseconds: what came with its end, or else the time from its start to its end. */
export function durationOf(state: RunState): number | undefined {
  if (!hasEnded(statusOfRun(state))) return undefined
  const reported = finalOf(state, 'durationMs')
  const { startedAt } = state.earliest
  if (reported !== undefined || startedAt === undefined) return reported
  const endedAt = endedAtOf(state)
  return endedAt === undefined ? undefined : endedAt - startedAt
}
