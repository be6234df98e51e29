import { writeInstant } from '../../../model/instants.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import { copyJson } from '../../../model/json.ts'
import type { FinalFields, RunState, RunUpdate } from '../../../model/run.ts'
import type { IgnoredField } from '../../../model/run-post.ts'
import { conflictingIds, joinRuns } from './join-runs.ts'
import { cutToLimit, isSame, sortedSet } from './last-writer-wins.ts'
import { hasEnded, isFinal } from './run-status.ts'
import { finalOf } from './selectors.ts'

/** The result of merging one post into a run. */
export type RunMerge =
  | {
      readonly outcome: 'merged'
      /** The merged state; `current` itself when nothing changed. */
      readonly state: RunState
      /** Whether this post is the first of the run. */
      readonly created: boolean
      /** Whether the post changed the state: merging a post twice changes nothing. */
      readonly changed: boolean
      /** Fields of the update that the run does not show. */
      readonly ignored: readonly IgnoredField[]
    }
  /** The update belongs to another run: an id that is set once differs. Nothing was merged. */
  | { readonly outcome: 'conflict'; readonly fields: readonly string[] }

/**
 * Merges one post into the state of its run. Commutative, associative and idempotent: the same posts in any order, each any
 * number of times, give the same run.
 *
 * Pure. The greatest status wins, by class (open, expired, final), then `seq`, then rank (`queued running waiting`,
 * `completed incomplete failed cancelled`): a final run never reopens. `queuedAt`, `startedAt` and `firstTokenAt` keep the
 * earliest, counts the greatest, tags all. `endedAt`, `durationMs`, `error` and `finishReason` belong to the status that they
 * came with. Everything else is a last-writer-wins register: the greater `seq` wins, then the greater canonical JSON; metadata
 * has one register per key, and `null` deletes.
 * `sessionId`, `parentRunId`, `resumedFromRunId` and `attempt` are set once: another value is a conflict.
 *
 * @param current Absent for a new run. Neither argument is changed, and the result shares nothing with the update.
 */
export function mergeRun(current: RunState | undefined, update: RunUpdate): RunMerge {
  const posted = toRunState(update)
  const notFinal = notFinalFields(update)
  if (current === undefined)
    return { outcome: 'merged', state: posted, created: true, changed: true, ignored: notFinal }
  const fields = conflictingIds(current, posted)
  if (fields.length > 0) return { outcome: 'conflict', fields }
  const state = joinRuns(current, posted)
  const ignored = ignoredFields(posted, state)
  return {
    outcome: 'merged',
    state,
    created: false,
    changed: state !== current,
    ignored: notFinal.length === 0 ? ignored : [...notFinal, ...ignored],
  }
}

/** The `seq` of a post without one: it is older than every post that has one. */
const UNSEQUENCED = -1

type DraftState = { -readonly [Part in keyof RunState]: RunState[Part] }

/** Gives the state of a run after this one update. Shares nothing with the update. */
export function toRunState(update: RunUpdate): RunState {
  const { runId, sessionId, seq = UNSEQUENCED, status, parentRunId, resumedFromRunId, attempt, tags } = update
  const state: DraftState = {
    runId,
    sessionId,
    seq,
    earliest: toEarliest(update),
    counts: copyRecord(update.counts),
    final: toFinal(update),
    latest: toLatest(update),
    metadata: copyRecord(update.metadata),
    tags: tags === undefined ? NO_TAGS : sortedSet(tags),
  }
  if (status !== undefined) state.status = status
  if (parentRunId !== undefined) state.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) state.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) state.attempt = attempt
  return state
}

/** Shared by the states that lack a part. */
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

function copyRecord<T>(record: Readonly<Record<string, T | undefined>> | undefined): Readonly<Record<string, T>> {
  if (record === undefined) return NOTHING
  const copy: Record<string, T> = {}
  for (const key in record) {
    const value = record[key]
    if (value !== undefined) copy[key] = value
  }
  return cutToLimit(copy)
}

type Reason = IgnoredField['reason']

const FINAL_FIELDS = {
  endedAt: 'timings.endedAt',
  durationMs: 'timings.durationMs',
  error: 'error',
  finishReason: 'finishReason',
}

/** Lists the fields of a post that its run does not show after the merge. Shares nothing with the run. */
function ignoredFields(posted: RunState, run: RunState): readonly IgnoredField[] {
  const ignored: IgnoredField[] = []
  const ignore = (field: string, reason: Reason, kept?: JsonValue | undefined): void => {
    ignored.push(kept === undefined ? { field, reason } : { field, reason, kept: copyJson(kept) })
  }
  if (posted.status && run.status && posted.status !== run.status) {
    const hadEnded = hasEnded(run.status) && !isFinal(posted.status)
    ignore('status', hadEnded ? 'terminal' : 'superseded', run.status)
  }
  for (const [key, reported] of Object.entries(posted.earliest)) {
    const kept = run.earliest[key as keyof RunState['earliest']]
    if (kept !== undefined && kept < reported) ignore(`timings.${key}`, 'later_time', writeInstant(kept))
  }
  for (const key of Object.keys(posted.counts)) {
    const kept = Object.hasOwn(run.counts, key) ? run.counts[key] : undefined
    if (kept === undefined) ignore(`counts.${key}`, 'over_limit')
    else if (kept !== posted.counts[key]) ignore(`counts.${key}`, 'lower_count', kept)
  }
  for (const key of Object.keys(posted.final) as (keyof RunState['final'])[]) {
    const kept = finalOf(run, key) as JsonValue | undefined
    if (isSame(kept, posted.final[key])) continue
    ignore(FINAL_FIELDS[key], 'superseded', key === 'endedAt' && typeof kept === 'number' ? writeInstant(kept) : kept)
  }
  superseded(posted.latest, run.latest, '', ignore)
  superseded(posted.metadata, run.metadata, 'metadata.', ignore)
  if (posted.tags.some((tag) => !run.tags.includes(tag))) ignore('tags', 'over_limit')
  return ignored
}

/** Lists the fields of an update that need a final status, when it has none. */
function notFinalFields({ status, timings, error, finishReason }: RunUpdate): readonly IgnoredField[] {
  if (status !== undefined && hasEnded(status)) return NONE
  const fields = [
    timings?.endedAt !== undefined && FINAL_FIELDS.endedAt,
    timings?.durationMs !== undefined && FINAL_FIELDS.durationMs,
    error !== undefined && FINAL_FIELDS.error,
    finishReason !== undefined && FINAL_FIELDS.finishReason,
  ].filter((field) => field !== false)
  return fields.map((field) => ({ field, reason: 'not_final' }))
}

const NONE: readonly IgnoredField[] = []

function superseded(
  posted: Readonly<Record<string, JsonValue>>,
  kept: Readonly<Record<string, JsonValue>>,
  prefix: string,
  ignore: (field: string, reason: Reason, kept?: JsonValue) => void,
): void {
  for (const key of Object.keys(posted)) {
    const theirs = Object.hasOwn(kept, key) ? kept[key] : undefined
    if (theirs === undefined) ignore(`${prefix}${key}`, 'over_limit')
    else if (!isSame(posted[key], theirs)) ignore(`${prefix}${key}`, 'superseded', theirs)
  }
}
