import { writeInstant } from '../../model/instants.ts'
import { copyJson } from '../../model/json.ts'
import type {
  DerivedRunData,
  ModelUsage,
  Run,
  RunAgent,
  RunCost,
  RunError,
  RunState,
  RunTimings,
} from '../../model/run.ts'
import type { StoredRun } from '../../ports/run-store.ts'
import { statusOfRun } from './merge/run-status.ts'
import { costOf, durationOf, endedAtOf, finalOf, latestOf } from './merge/selectors.ts'

type Draft<T> = { -readonly [Field in keyof T]: T[Field] }

/** A stored run as a caller sees it. Shares nothing with what is stored. */
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
/** Each model with what it cost, be it told or worked out. */
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

/** A copy has the type of what it was copied from. */
function copied<T>(value: T | undefined): T | undefined {
  return value === undefined ? undefined : (copyJson(value) as T)
}
