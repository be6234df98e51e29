import { copyJson, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { FinalFields, RunState, RunUpdate } from '../../../model/run.ts'
import { cutToHold, sortedSet } from './last-writer-wins.ts'
import { hasEnded } from './run-status.ts'

/** What a post without a `seq` counts as: before every post that has one. */
const UNSEQUENCED = -1

export type DraftState = { -readonly [Part in keyof RunState]: RunState[Part] }

/** The state of a run of which nothing but this update is known. Shares nothing with the update. */
export function toRunState(update: RunUpdate): RunState {
  const { runId, sessionId, seq = UNSEQUENCED, status, parentRunId, resumedFromRunId, attempt, tags } = update
  const state: DraftState = {
    runId,
    sessionId,
    seq,
    earliest: toEarliest(update),
    counts: toCounts(update),
    final: toFinal(update),
    latest: toLatest(update),
    metadata: toMetadata(update),
    tags: tags === undefined ? NO_TAGS : sortedSet(tags),
  }
  if (status !== undefined) state.status = status
  if (parentRunId !== undefined) state.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) state.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) state.attempt = attempt
  return state
}

/** States that know nothing of something share this. */
const NOTHING: Readonly<Record<string, never>> = Object.freeze({})
const NO_TAGS: readonly string[] = Object.freeze([])

function toEarliest({ timings }: RunUpdate): RunState['earliest'] {
  if (timings === undefined) return NOTHING
  const { queuedAt, startedAt, firstTokenAt } = timings
  if (queuedAt === undefined && startedAt === undefined && firstTokenAt === undefined) return NOTHING
  const earliest: { queuedAt?: number; startedAt?: number; firstTokenAt?: number } = {}
  if (queuedAt !== undefined) earliest.queuedAt = queuedAt
  if (startedAt !== undefined) earliest.startedAt = startedAt
  if (firstTokenAt !== undefined) earliest.firstTokenAt = firstTokenAt
  return earliest
}

function toCounts({ counts }: RunUpdate): RunState['counts'] {
  if (counts === undefined) return NOTHING
  const lifted: Record<string, number> = {}
  for (const key in counts) {
    const count = counts[key]
    if (count !== undefined) lifted[key] = count
  }
  return cutToHold(lifted)
}

function toFinal({ status, timings, error, finishReason }: RunUpdate): FinalFields {
  if (status === undefined || !hasEnded(status)) return NOTHING
  const final: { -readonly [Field in keyof FinalFields]: FinalFields[Field] } = {}
  if (timings?.endedAt !== undefined) final.endedAt = timings.endedAt
  if (timings?.durationMs !== undefined) final.durationMs = timings.durationMs
  if (error !== undefined) final.error = copyJson<unknown>(error) as JsonObject
  if (finishReason !== undefined) final.finishReason = finishReason
  return final
}

function toLatest(update: RunUpdate): RunState['latest'] {
  const latest: Record<string, JsonValue> = {}
  const { provider, model, responseModel, countsScope, waitingFor, userId, environment } = update
  if (provider !== undefined) latest.provider = provider
  if (model !== undefined) latest.model = model
  if (responseModel !== undefined) latest.responseModel = responseModel
  if (countsScope !== undefined) latest.countsScope = countsScope
  if (waitingFor !== undefined) latest.waitingFor = waitingFor
  if (userId !== undefined) latest.userId = userId
  if (environment !== undefined) latest.environment = environment
  const { agent, timings, trace, cost, usageByModel } = update
  if (agent !== undefined) {
    if (agent.id !== undefined) latest['agent.id'] = agent.id
    if (agent.name !== undefined) latest['agent.name'] = agent.name
    if (agent.version !== undefined) latest['agent.version'] = agent.version
  }
  if (timings !== undefined) {
    const { activeMs, modelMs, toolMs, timeToFirstTokenMs } = timings
    if (activeMs !== undefined) latest['timings.activeMs'] = activeMs
    if (modelMs !== undefined) latest['timings.modelMs'] = modelMs
    if (toolMs !== undefined) latest['timings.toolMs'] = toolMs
    if (timeToFirstTokenMs !== undefined) latest['timings.timeToFirstTokenMs'] = timeToFirstTokenMs
  }
  if (trace !== undefined) latest.trace = copyJson(trace)
  if (cost !== undefined) latest.cost = copyJson<unknown>(cost) as JsonValue
  if (usageByModel !== undefined) latest.usageByModel = copyJson<unknown>(usageByModel) as JsonValue
  return latest
}

function toMetadata({ metadata }: RunUpdate): RunState['metadata'] {
  if (metadata === undefined) return NOTHING
  const lifted: Record<string, string | number | boolean | null> = {}
  for (const key in metadata) {
    const value = metadata[key]
    if (value !== undefined) lifted[key] = value
  }
  return cutToHold(lifted)
}
