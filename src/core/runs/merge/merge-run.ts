import { writeInstant } from '../../../model/instants.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import { copyJson } from '../../../model/json.ts'
import type { FinalFields, RunReport, RunSource, RunState, RunUpdate } from '../../../model/run.ts'
import type { IgnoredField } from '../../../model/run-post.ts'
import { hasEnded, isFinal } from '../../../model/run-status.ts'
import { shownReport } from '../../../model/shown-run.ts'
import { hasTokens } from '../../../usage/counts.ts'
import { conflictingFields, joinReports } from './join-runs.ts'
import { cutToLimit, isSame, sortedSet } from './last-writer-wins.ts'
import { FINAL_FIELDS, recordedByApplication } from './recorded-by-application.ts'
import { FIELDS, finalOf } from './selectors.ts'

/** Result of merging one post into a run. */
export type RunMerge =
  | {
      readonly outcome: 'merged'
      /** The merged state; `current` itself when nothing changed. */
      readonly state: RunState
      /** True for the first post of the run; for an agent, for its first post of the run. */
      readonly created: boolean
      /** True if the post changed what its source reported: merging a post twice changes nothing. */
      readonly changed: boolean
      /** Fields of the update that the run does not show. */
      readonly ignored: readonly IgnoredField[]
    }
  /** `parentRunId`, `resumedFromRunId`, `attempt` or an agent's `userId`, which are set once, differ. Nothing was merged. */
  | { readonly outcome: 'conflict'; readonly fields: readonly string[] }

/**
 * Merges one post into the state of its run. Commutative, associative and idempotent: a late, repeated or out-of-order post gives the
 * same run. Pure: `RunStore.mergeRun` calls it, through `decideMerge`, and stores the result.
 *
 * Applications and agents have a report each, and a post changes only that of its source. Within a report, the greatest status wins,
 * by class (open, expired, final), then `seq`, then rank (`queued running waiting`, `completed incomplete failed cancelled`): a
 * final run never reopens. `queuedAt`, `startedAt` and `firstTokenAt` keep the earliest, counts the greatest, tags all. `endedAt`,
 * `durationMs`, `error` and `finishReason` belong to the status that they were posted with. Every other field is a last-writer-wins
 * register: the greater `seq` wins, then the greater canonical JSON; metadata has one register per key, and `null` deletes.
 * `parentRunId`, `resumedFromRunId` and `attempt` are set once, and so is an agent's `userId`: another value is a conflict.
 *
 * The run shows an application's value where it has one. An agent can end a run that the application left open; the application's
 * own end wins. Amounts (`counts`, `usageByModel`, `cost`, `countsScope`, `serviceTier`) come from one source: from the application once it
 * reported one.
 *
 * @param current Absent for a new run. Neither argument is changed, and the result shares nothing with the update.
 * @param source Default: `application`.
 * @throws {TypeError} If `current` is another run: its `sessionId` or `runId` differs.
 */
export function mergeRun(
  current: RunState | undefined,
  update: RunUpdate,
  source: RunSource = 'application',
): RunMerge {
  const { runId, sessionId } = update
  if (current !== undefined && (current.runId !== runId || current.sessionId !== sessionId))
    throw new TypeError('the state and the update are of different runs')
  const posted = toRunReport(update)
  const before = current?.[source]
  const fields = before === undefined ? NO_FIELDS : conflictsOf(before, posted, source)
  if (fields.length > 0) return { outcome: 'conflict', fields }
  const report = before === undefined ? posted : joinReports(before, posted)
  const changed = report !== before
  const state = current !== undefined && !changed ? current : stateWith(current, update, source, report)
  const created = source === 'agent' ? before === undefined : current === undefined
  const notFinal = notFinalFields(update)
  const ignored = current === undefined ? NONE : ignoredFields(sentFields(posted), state, source)
  return {
    outcome: 'merged',
    state,
    created,
    changed,
    ignored: notFinal.length === 0 ? ignored : [...notFinal, ...ignored],
  }
}

/** Replaces the report of one source. Members are in the same order, whichever source posted first. */
function stateWith(
  current: RunState | undefined,
  { runId, sessionId }: RunUpdate,
  source: RunSource,
  report: RunReport,
): RunState {
  if (source === 'agent') {
    const application = current?.application
    return application ? { runId, sessionId, application, agent: report } : { runId, sessionId, agent: report }
  }
  const agent = current?.agent
  return agent ? { runId, sessionId, application: report, agent } : { runId, sessionId, application: report }
}

const NO_FIELDS: readonly string[] = []

function conflictsOf(before: RunReport, posted: RunReport, source: RunSource): readonly string[] {
  const fields = conflictingFields(before, posted)
  return source === 'agent' && before.latest.userId !== posted.latest.userId ? [...fields, 'userId'] : fields
}

/** `seq` of a post without one: older than every post that has one. */
const UNSEQUENCED = -1

type DraftReport = { -readonly [Part in keyof RunReport]: RunReport[Part] }

/** The report of this one update. Shares nothing with the update. */
export function toRunReport(update: RunUpdate): RunReport {
  const { seq = UNSEQUENCED, status, parentRunId, resumedFromRunId, attempt, tags, by } = update
  const report: DraftReport = {
    seq,
    earliest: toEarliest(update),
    counts: copyRecord(update.counts),
    final: toFinal(update),
    latest: toLatest(update),
    metadata: copyRecord(update.metadata),
    tags: tags === undefined ? NO_TAGS : sortedSet(tags),
  }
  if (status !== undefined) report.status = status
  if (parentRunId !== undefined) report.parentRunId = parentRunId
  if (resumedFromRunId !== undefined) report.resumedFromRunId = resumedFromRunId
  if (attempt !== undefined) report.attempt = attempt
  if (by !== undefined) report.by = [by]
  if (update.usageDoubt && hasTokens(report.counts)) report.clearCounts = NOTHING
  return report
}

const NOTHING: Readonly<Record<string, never>> = Object.freeze({})
const NO_TAGS: readonly string[] = Object.freeze([])

function toEarliest({ timings }: RunUpdate): RunReport['earliest'] {
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

function toLatest(update: RunUpdate): RunReport['latest'] {
  const latest: Record<string, JsonValue> = {}
  for (const field of FIELDS) if (update[field] !== undefined) latest[field] = update[field]
  const { waitingFor, agent, timings, trace, cost, usageByModel, usageDoubt, seq } = update
  if (waitingFor !== undefined) latest.waitingFor = waitingFor
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
  // Doubt holds over no doubt at the same `seq`, so without a `seq` only doubt can change anything.
  if (usageDoubt || (usageDoubt === false && seq !== undefined)) latest.usageDoubt = usageDoubt
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

/** Lists the fields of a post that its run does not show after the merge. An agent is compared with its own report alone. */
function ignoredFields(posted: RunReport, state: RunState, source: RunSource): readonly IgnoredField[] {
  if (source === 'application') return supersededFields(posted, shownReport(state))
  const { application, agent = posted } = state
  const recorded = application ? recordedByApplication(posted, state, application) : NONE
  const others = supersededFields(posted, agent)
  if (recorded.length === 0) return others
  const fields = new Set(recorded.map(({ field }) => field))
  return [...recorded, ...others.filter(({ field }) => !fields.has(field))]
}

/** A post without its doubt, which follows from the counts that it sent. */
function sentFields(posted: RunReport): RunReport {
  const { usageDoubt, ...latest } = posted.latest
  return usageDoubt === undefined ? posted : { ...posted, latest }
}

/** Shares nothing with the run. */
function supersededFields(posted: RunReport, run: RunReport): readonly IgnoredField[] {
  const ignored: IgnoredField[] = []
  const ignore = (field: string, reason: Reason, kept?: JsonValue | undefined): void => {
    ignored.push(kept === undefined ? { field, reason } : { field, reason, kept: copyJson(kept) })
  }
  if (posted.status && run.status && posted.status !== run.status) {
    const hadEnded = hasEnded(run.status) && !isFinal(posted.status)
    ignore('status', hadEnded ? 'terminal' : 'superseded', run.status)
  }
  for (const [key, reported] of Object.entries(posted.earliest)) {
    const kept = run.earliest[key as keyof RunReport['earliest']]
    if (kept !== undefined && kept < reported) ignore(`timings.${key}`, 'later_time', writeInstant(kept))
  }
  for (const key of Object.keys(posted.counts)) {
    const kept = Object.hasOwn(run.counts, key) ? run.counts[key] : undefined
    if (kept === undefined) ignore(`counts.${key}`, 'over_limit')
    else if (kept !== posted.counts[key]) ignore(`counts.${key}`, 'lower_count', kept)
  }
  for (const key of Object.keys(posted.final) as (keyof RunReport['final'])[]) {
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
