import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { RunState, RunUpdate, Stamped, WithStatus } from '../../model/run.ts'
import { copyJson } from './copy-json.ts'
import { sortedSet } from './registers.ts'
import { hasEnded } from './run-status.ts'

/** What a post without a `seq` counts as: before every post that has one. */
const UNSEQUENCED = -1

export type DraftState = { -readonly [Part in keyof RunState]: RunState[Part] }

/** The state of a run of which nothing but this update is known. Shares nothing with the update. */
export function liftRun(update: RunUpdate): RunState {
  const { runId, sessionId, seq = UNSEQUENCED, status, parentRunId, resumedFromRunId, attempt } = update
  const state: DraftState = {
    runId,
    sessionId,
    seq,
    earliest: liftEarliest(update),
    counts: liftCounts(update),
    final: liftFinal(update, seq),
    latest: liftLatest(update, seq),
    metadata: liftMetadata(update, seq),
    tags: sortedSet(update.tags ?? []),
  }
  if (status !== undefined) state.status = { value: status, seq }
  if (parentRunId !== undefined) state.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) state.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) state.attempt = attempt
  return state
}

function liftEarliest({ timings }: RunUpdate): RunState['earliest'] {
  const earliest: { queuedAt?: number; startedAt?: number; firstTokenAt?: number } = {}
  if (timings?.queuedAt !== undefined) earliest.queuedAt = timings.queuedAt
  if (timings?.startedAt !== undefined) earliest.startedAt = timings.startedAt
  if (timings?.firstTokenAt !== undefined) earliest.firstTokenAt = timings.firstTokenAt
  return earliest
}

function liftCounts({ counts = {} }: RunUpdate): RunState['counts'] {
  const lifted: Record<string, number> = {}
  for (const key of Object.keys(counts)) {
    const count = counts[key]
    if (count !== undefined) lifted[key] = count
  }
  return lifted
}

function liftFinal({ status, timings, error, finishReason }: RunUpdate, seq: number): RunState['final'] {
  const final: { -readonly [Field in keyof RunState['final']]: RunState['final'][Field] } = {}
  if (status === undefined || !hasEnded(status)) return final
  const withStatus = <T extends JsonValue>(value: T): WithStatus<T> => ({ value, status, seq })
  if (timings?.endedAt !== undefined) final.endedAt = withStatus(timings.endedAt)
  if (timings?.durationMs !== undefined) final.durationMs = withStatus(timings.durationMs)
  if (error !== undefined) final.error = withStatus(copyJson(error) as JsonObject)
  if (finishReason !== undefined) final.finishReason = withStatus(finishReason)
  return final
}

function liftLatest(update: RunUpdate, seq: number): RunState['latest'] {
  const latest: Record<string, Stamped> = {}
  const write = (path: string, value: JsonValue | undefined): void => {
    if (value !== undefined) latest[path] = { value, seq }
  }
  const { agent, timings, trace, cost, usageByModel } = update
  write('provider', update.provider)
  write('model', update.model)
  write('responseModel', update.responseModel)
  write('countsScope', update.countsScope)
  write('waitingFor', update.waitingFor)
  write('userId', update.userId)
  write('environment', update.environment)
  if (agent !== undefined) {
    write('agent.id', agent.id)
    write('agent.name', agent.name)
    write('agent.version', agent.version)
  }
  if (timings !== undefined) {
    write('timings.activeMs', timings.activeMs)
    write('timings.modelMs', timings.modelMs)
    write('timings.toolMs', timings.toolMs)
    write('timings.timeToFirstTokenMs', timings.timeToFirstTokenMs)
  }
  if (trace !== undefined) write('trace', copyJson(trace))
  if (cost !== undefined) write('cost', copyJson(cost))
  if (usageByModel !== undefined) write('usageByModel', copyJson(usageByModel))
  return latest
}

function liftMetadata({ metadata = {} }: RunUpdate, seq: number): RunState['metadata'] {
  const lifted: Record<string, Stamped<string | number | boolean | null>> = {}
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value !== undefined) lifted[key] = { value, seq }
  }
  return lifted
}
