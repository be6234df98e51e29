import type {
  ModelUsage,
  RunCost,
  RunError,
  RunPost,
  RunState,
  RunStatus,
  WaitingFor,
  WithStatus,
} from '../../model/run.ts'

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

/** The status of a run: `running`, until a post says otherwise. */
export function statusOfRun({ status }: RunState): RunStatus {
  return status?.value ?? 'running'
}

/** The value that was written last. Every path has its own type, since `liftRun` alone writes them. */
export function latestOf<Path extends keyof Latest>({ latest }: RunState, path: Path): Latest[Path] | undefined {
  return latest[path]?.value as Latest[Path] | undefined
}

/** The value that goes with the run's status; `undefined` while another status has won. */
export function finalOf<Field extends keyof Final>(state: RunState, field: Field): Final[Field] | undefined {
  const register: WithStatus | undefined = state.final[field]
  return register?.status === state.status?.value ? (register?.value as Final[Field] | undefined) : undefined
}

/** Whether the end that goes with the run's status lies before its start: the start is shown for it. */
export function endsBeforeStart(state: RunState): boolean {
  const endedAt = finalOf(state, 'endedAt')
  return endedAt !== undefined && state.earliest.startedAt !== undefined && endedAt < state.earliest.startedAt
}
