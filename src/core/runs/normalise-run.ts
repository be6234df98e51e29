import type { Warning } from '../../model/dispatch.ts'
import { pointerTo } from '../../model/json-pointer.ts'
import type { ModelUsage, RunCounts, RunTimings, RunUpdate } from '../../model/run.ts'
import { isFinal } from '../../model/run-status.ts'
import { tierNamed } from '../../model/service-tier.ts'
import { hasTokens, USAGE_COUNTS } from '../../usage/counts.ts'
import type { PostedCounts } from '../../usage/posted-counts.ts'
import { type ReadUsage, UNKNOWN_USAGE, type UsageDoubt } from '../../usage/read-usage.ts'
import type { CheckedSessionRun } from './session-run-schema.ts'
import { saysTimeout, statusNamed } from './status-names.ts'

export interface NormalisedRun {
  readonly update: RunUpdate
  readonly warnings: readonly Warning[]
}

/**
 * Converts a valid body to an update: canonical status, one set of inclusive counts, final fields only with a final status.
 *
 * @param by Id of the principal.
 */
export function normaliseRun({ sessionId, run }: CheckedSessionRun, by?: string): NormalisedRun {
  const warnings: Warning[] = []
  const status = run.status === undefined ? undefined : statusNamed(run.status)
  const own = run.counts && withSpelled(run.counts, '/run/counts', warnings)
  const byModel = run.usageByModel?.map((model, index) => {
    return { ...model, counts: withSpelled(model.counts, `/run/usageByModel/${index}/counts`, warnings) }
  })
  const reported = run.usage === undefined ? own : withUsage(run.usage, own, warnings)
  const counts = byModel === undefined ? reported : withModels(byModel, reported)
  const error = run.error ?? (run.status !== undefined && saysTimeout(run.status) ? { type: 'timeout' } : undefined)
  const update: Draft = { runId: run.runId, sessionId }
  set(update, 'status', status)
  set(update, 'counts', counts)
  set(update, 'usageByModel', byModel)
  if (status !== undefined && isFinal(status)) {
    set(update, 'timings', run.timings)
    set(update, 'error', error)
    set(update, 'finishReason', run.finishReason)
  } else {
    set(update, 'timings', run.timings && withoutEnd(run.timings, warnings))
    if (error !== undefined) warnings.push(notFinal('error'))
    if (run.finishReason !== undefined) warnings.push(notFinal('finishReason'))
  }
  addAsSent(update, run)
  const { serviceTier = update.serviceTier } = run.usage ?? {}
  if (serviceTier !== update.serviceTier) warnings.push(overrules('serviceTier'))
  if (by !== undefined) update.by = by
  const isDoubtful = warnings.some(({ code }) => Object.hasOwn(DOUBTS, code))
  if (isDoubtful || run.usage !== undefined || (counts && hasTokens(counts))) update.usageDoubt = isDoubtful
  warnOfExclusiveCounts(update, run, warnings)
  return { update, warnings }
}

/** Adds the fields that need no conversion. Static names: this runs for every post. */
function addAsSent(update: Draft, run: CheckedSessionRun['run']): void {
  if (run.provider !== undefined) update.provider = run.provider
  if (run.model !== undefined) update.model = run.model
  if (run.responseModel !== undefined) update.responseModel = run.responseModel
  if (run.seq !== undefined) update.seq = run.seq
  if (run.parentRunId !== undefined) update.parentRunId = run.parentRunId
  if (run.resumedFromRunId !== undefined) update.resumedFromRunId = run.resumedFromRunId
  if (run.attempt !== undefined) update.attempt = run.attempt
  if (run.agent !== undefined) update.agent = run.agent
  const serviceTier = run.serviceTier === undefined ? run.usage?.serviceTier : tierNamed(run.serviceTier)
  if (serviceTier !== undefined) update.serviceTier = serviceTier
  if (run.countsScope !== undefined) update.countsScope = run.countsScope
  if (run.cost !== undefined) update.cost = run.cost
  if (run.waitingFor !== undefined) update.waitingFor = run.waitingFor
  if (run.trace !== undefined) update.trace = run.trace
  if (run.userId !== undefined) update.userId = run.userId
  if (run.environment !== undefined) update.environment = run.environment
  if (run.tags !== undefined) update.tags = run.tags
  if (run.metadata !== undefined) update.metadata = run.metadata
}

type Draft = { -readonly [Field in keyof RunUpdate]: RunUpdate[Field] }

function set<Field extends keyof Draft>(update: Draft, field: Field, value: Draft[Field] | undefined): void {
  if (value !== undefined) update[field] = value
}

/** Adds token counts that the run lacks and every model has, as their sum, up to 2^53 - 1. */
function withModels(byModel: readonly ModelUsage[], reported: RunCounts | undefined): RunCounts | undefined {
  if (byModel.length === 0) return reported
  const counts: Record<string, number> = {}
  for (const name of USAGE_COUNTS) {
    const sum = byModel.reduce((all, model) => all + (model.counts[name] ?? Number.NaN), 0)
    if (reported?.[name] === undefined && sum >= 0) counts[name] = Math.min(sum, Number.MAX_SAFE_INTEGER)
  }
  return Object.assign(counts, reported)
}

function withUsage(usage: ReadUsage, explicit: RunCounts | undefined, warnings: Warning[]): RunCounts | undefined {
  warnOfDoubts(usage.doubts, '/run/usage', warnings)
  if (usage !== UNKNOWN_USAGE)
    return explicit === undefined ? usage.counts : overruled(usage.counts, explicit, warnings)
  warnings.push(unknownUsage('/run/usage'))
  return explicit
}

function unknownUsage(pointer: string): Warning {
  return { code: 'usage_unknown', pointer, detail: 'has no count of a known provider, and was dropped' }
}

/** Explicit counts win over the usage object, with a warning where they differ. */
function overruled(counts: ReadUsage['counts'], explicit: RunCounts, warnings: Warning[]): RunCounts {
  for (const name of USAGE_COUNTS) {
    const count = explicit[name]
    if (counts[name] !== undefined && count !== undefined && count !== counts[name])
      warnings.push(overrules(`counts/${name}`))
  }
  return { ...counts, ...explicit }
}

function overrules(field: string): Warning {
  const detail = 'differs from the usage object, and was taken instead'
  return { code: 'usage_overruled', pointer: `/run/${field}`, detail }
}

/** Counts of a post, and those under the names of a provider. */
function withSpelled({ counts, spelled }: PostedCounts, pointer: string, warnings: Warning[]): RunCounts {
  if (spelled === undefined) return counts
  const { names, usage } = spelled
  for (const name of names)
    warnings.push({ code: 'usage_in_counts', pointer: pointerTo(pointer, name), detail: IN_COUNTS })
  if (!usage) warnings.push(unknownUsage(pointer))
  warnOfDoubts(usage?.doubts ?? [], pointer, warnings)
  return { ...usage?.counts, ...counts }
}

const IN_COUNTS = "is a provider's name, which belongs in usage; it was read as if it stood there"

function warnOfDoubts(doubts: readonly UsageDoubt[], pointer: string, warnings: Warning[]): void {
  for (const doubt of doubts)
    warnings.push({ code: doubt.code, pointer: pointer + doubt.pointer, detail: DOUBTS[doubt.code] })
}

const DOUBTS: Readonly<Record<UsageDoubt['code'], string>> = {
  usage_conflict: 'contradicts another member, so that the run has no calculated cost',
  usage_unread: 'is a count that is not known here, so that the run has no calculated cost',
}

function withoutEnd(timings: RunTimings<number>, warnings: Warning[]): RunTimings<number> {
  if (timings.endedAt === undefined && timings.durationMs === undefined) return timings
  const { endedAt, durationMs, ...rest } = timings
  if (endedAt !== undefined) warnings.push(notFinal('timings/endedAt'))
  if (durationMs !== undefined) warnings.push(notFinal('timings/durationMs'))
  return rest
}

function notFinal(path: string): Warning {
  const detail = 'was dropped: it belongs to a final status, and this post has none'
  return { code: 'not_final', pointer: `/run/${path}`, detail }
}

function warnOfExclusiveCounts(
  { counts, usageByModel }: RunUpdate,
  posted: CheckedSessionRun['run'],
  warnings: Warning[],
): void {
  if (counts && leavesOutCache(counts)) warnings.push(exclusive(reportedAt(posted, 'inputTokens'), 'the cache'))
  if (counts && leavesOutReasoning(counts)) warnings.push(exclusive(reportedAt(posted, 'outputTokens'), 'reasoning'))
  usageByModel?.forEach((model, index) => {
    const pointer = `/run/usageByModel/${index}/counts`
    if (leavesOutCache(model.counts)) warnings.push(exclusive(`${pointer}/inputTokens`, 'the cache'))
    if (leavesOutReasoning(model.counts)) warnings.push(exclusive(`${pointer}/outputTokens`, 'reasoning'))
  })
}

function reportedAt({ counts, usage }: CheckedSessionRun['run'], count: 'inputTokens' | 'outputTokens'): string {
  if (counts?.counts[count] !== undefined) return `/run/counts/${count}`
  return usage === undefined && counts?.spelled ? '/run/counts' : '/run/usage'
}

function leavesOutCache(counts: RunCounts): boolean {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens, totalTokens } = counts
  return leavesOut(cacheReadTokens + cacheWriteTokens, inputTokens, outputTokens, totalTokens)
}

function leavesOutReasoning({ inputTokens, outputTokens, reasoningTokens = 0, totalTokens }: RunCounts): boolean {
  return leavesOut(reasoningTokens, outputTokens, inputTokens, totalTokens)
}

/** True if a count cannot include its part: the part is greater, or the total fits only with the part added. */
function leavesOut(
  part: number,
  count: number | undefined,
  other: number | undefined,
  total: number | undefined,
): boolean {
  if (part === 0 || count === undefined) return false
  return part > count || (other !== undefined && total === count + other + part)
}

function exclusive(pointer: string, part: string): Warning {
  const detail = `does not seem to include the tokens of ${part}, which it should`
  return { code: 'usage_looks_exclusive', pointer, detail }
}

export const CLAMPED: Warning = {
  code: 'clamped',
  pointer: '/run/timings/endedAt',
  detail: 'lies before the start of the run, which is shown instead',
}
