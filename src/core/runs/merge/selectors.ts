import { writeInstant } from '../../../model/instants.ts'
import { copyJson } from '../../../model/json.ts'
import type {
  DerivedRunData,
  ModelUsage,
  Run,
  RunAgent,
  RunCost,
  RunError,
  RunState,
  RunTimings,
  WaitingFor,
} from '../../../model/run.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { reportedWith } from './last-writer-wins.ts'
import { hasEnded, statusOfRun } from './run-status.ts'

/** The last-writer-wins registers of a state, by path. */
interface Latest {
  readonly provider: string
  readonly model: string
  readonly responseModel: string
  readonly countsScope: NonNullable<Run['countsScope']>
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
  readonly trace: NonNullable<Run['trace']>
  readonly cost: RunCost
  readonly usageByModel: readonly ModelUsage[]
}

/** The fields that belong to a final status. */
interface Final {
  readonly endedAt: number
  readonly durationMs: number
  readonly error: RunError
  readonly finishReason: string
}

/** The value of a last-writer-wins register. Only `toRunState` writes registers, so each path has one type. */
export function latestOf<Path extends keyof Latest>({ latest }: RunState, path: Path): Latest[Path] | undefined {
  return latest[path] as Latest[Path] | undefined
}

/** A final field of the run's status; `undefined` when the field came with another status. */
export function finalOf<Field extends keyof Final>(state: RunState, field: Field): Final[Field] | undefined {
  const isOther = state.finalWith !== undefined && reportedWith(state, field).status !== state.status
  return isOther ? undefined : (state.final[field] as Final[Field] | undefined)
}

/** Whether the run's end lies before its start; the view then shows the start for both. */
export function endsBeforeStart(state: RunState): boolean {
  const endedAt = finalOf(state, 'endedAt')
  return endedAt !== undefined && state.earliest.startedAt !== undefined && endedAt < state.earliest.startedAt
}

/** The cost of a run: as posted, or else as calculated. */
export function costOf(state: RunState, { cost }: DerivedRunData): RunCost | undefined {
  return latestOf(state, 'cost') ?? cost
}

/** When the run ended; never before its start. */
function endedAtOf(state: RunState): number | undefined {
  if (!hasEnded(statusOfRun(state))) return undefined
  return endsBeforeStart(state) ? state.earliest.startedAt : finalOf(state, 'endedAt')
}

/** The duration of an ended run in milliseconds: as posted, or else from start to end. */
export function durationOf(state: RunState): number | undefined {
  if (!hasEnded(statusOfRun(state))) return undefined
  const reported = finalOf(state, 'durationMs')
  const { startedAt } = state.earliest
  if (reported !== undefined || startedAt === undefined) return reported
  const endedAt = endedAtOf(state)
  return endedAt === undefined ? undefined : endedAt - startedAt
}

type Draft<T> = { -readonly [Field in keyof T]: T[Field] }

/** Gives a stored run as a caller sees it. Shares nothing with the stored run. */
export function viewRun({ state, derived, createdAt, updatedAt, lastSeenAt, revision }: StoredRun): Run {
  const { runId, sessionId, parentRunId, resumedFromRunId, attempt, seq, tags } = state
  const status = statusOfRun(state)
  const created = writeInstant(createdAt)
  const run: Draft<Run> = {
    runId,
    sessionId,
    status,
    createdAt: created,
    updatedAt: updatedAt === createdAt ? created : writeInstant(updatedAt),
    lastSeenAt: lastSeenAt === createdAt ? created : writeInstant(lastSeenAt),
    revision,
  }
  if (seq >= 0) run.seq = seq
  if (parentRunId !== undefined) run.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) run.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) run.attempt = attempt
  show(run, 'provider', latestOf(state, 'provider'))
  show(run, 'model', latestOf(state, 'model'))
  show(run, 'responseModel', latestOf(state, 'responseModel'))
  show(run, 'agent', viewAgent(state))
  show(run, 'timings', viewTimings(state))
  show(run, 'counts', filled({ ...state.counts }))
  show(run, 'countsScope', latestOf(state, 'countsScope'))
  show(run, 'usageByModel', viewUsage(state, derived))
  show(run, 'cost', copied<RunCost>(costOf(state, derived)))
  show(run, 'finishReason', finalOf(state, 'finishReason'))
  if (status === 'waiting') show(run, 'waitingFor', latestOf(state, 'waitingFor'))
  show(run, 'error', copied<RunError>(finalOf(state, 'error')))
  show(run, 'trace', copied<NonNullable<Run['trace']>>(latestOf(state, 'trace')))
  show(run, 'userId', latestOf(state, 'userId'))
  show(run, 'environment', latestOf(state, 'environment'))
  if (tags.length > 0) run.tags = [...tags]
  show(run, 'metadata', viewMetadata(state))
  return run
}

/** Gives each model with its cost, posted or calculated. */
function viewUsage(state: RunState, { shares }: DerivedRunData): Run['usageByModel'] {
  const usage = copied<readonly ModelUsage[]>(latestOf(state, 'usageByModel'))
  return usage?.map((share, index) => {
    const cost = share.cost ?? copied(shares?.[index])
    return cost === undefined ? share : { ...share, cost }
  })
}

function viewAgent(state: RunState): RunAgent | undefined {
  const agent: Draft<RunAgent> = {}
  show(agent, 'id', latestOf(state, 'agent.id'))
  show(agent, 'name', latestOf(state, 'agent.name'))
  show(agent, 'version', latestOf(state, 'agent.version'))
  return filled(agent)
}

function viewTimings(state: RunState): RunTimings<string> | undefined {
  const { queuedAt, startedAt, firstTokenAt } = state.earliest
  const timings: Draft<RunTimings<string>> = {}
  if (queuedAt !== undefined) timings.queuedAt = writeInstant(queuedAt)
  if (startedAt !== undefined) timings.startedAt = writeInstant(startedAt)
  if (firstTokenAt !== undefined) timings.firstTokenAt = writeInstant(firstTokenAt)
  const endedAt = endedAtOf(state)
  if (endedAt !== undefined) timings.endedAt = writeInstant(endedAt)
  show(timings, 'durationMs', durationOf(state))
  show(timings, 'activeMs', latestOf(state, 'timings.activeMs'))
  show(timings, 'modelMs', latestOf(state, 'timings.modelMs'))
  show(timings, 'toolMs', latestOf(state, 'timings.toolMs'))
  show(timings, 'timeToFirstTokenMs', latestOf(state, 'timings.timeToFirstTokenMs'))
  return filled(timings)
}

function viewMetadata({ metadata }: RunState): Run['metadata'] {
  const shown: Record<string, string | number | boolean> = {}
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value !== undefined && value !== null) shown[key] = value
  }
  return filled(shown)
}

function show<T, Field extends keyof T>(on: T, field: Field, value: T[Field] | undefined): void {
  if (value !== undefined) on[field] = value
}

function filled<T extends object>(value: T): T | undefined {
  for (const _ in value) return value
  return undefined
}

function copied<T>(value: T | undefined): T | undefined {
  return value === undefined ? undefined : (copyJson(value) as T)
}
