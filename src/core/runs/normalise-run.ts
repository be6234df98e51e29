import type { Warning } from '../../model/dispatch.ts'
import type { ModelUsage, RunCounts, RunTimings, RunUpdate } from '../../model/run.ts'
import type { RunPost } from '../../model/run-post.ts'
import { isFinal, saysTimeout, statusNamed } from './merge/run-status.ts'
import type { CheckedSessionRun } from './session-run-schema.ts'
import { TOKEN_COUNTS } from './usage/counts.ts'
import { UNKNOWN_USAGE, type UsageCounts } from './usage/usage.ts'

/** A post in one canonical form, with its warnings. */
export interface NormalisedRun {
  readonly update: RunUpdate
  readonly warnings: readonly Warning[]
}

/**
 * Turns a valid body into an update: canonical status names, one set of inclusive counts, and no final fields beside a status
 * that is not final.
 */
export function normaliseRun({ sessionId, run }: CheckedSessionRun): NormalisedRun {
  const warnings: Warning[] = []
  const status = run.status === undefined ? undefined : statusNamed(run.status)
  const reported = run.usage === undefined ? run.counts : withUsage(run.usage, run.counts, warnings)
  const counts = run.usageByModel === undefined ? reported : withModels(run.usageByModel, reported)
  const error = run.error ?? (run.status !== undefined && saysTimeout(run.status) ? { type: 'timeout' } : undefined)
  const update: Draft = { runId: run.runId, sessionId }
  set(update, 'status', status)
  set(update, 'counts', counts)
  if (status !== undefined && isFinal(status)) {
    set(update, 'timings', run.timings)
    set(update, 'error', error)
    set(update, 'finishReason', run.finishReason)
  } else {
    set(update, 'timings', run.timings && withoutEnd(run.timings, warnings))
    if (error !== undefined) warnings.push(notFinal('error'))
    if (run.finishReason !== undefined) warnings.push(notFinal('finishReason'))
  }
  for (const field of AS_SENT) set(update, field, run[field])
  warnOfExclusiveCounts(run, counts, warnings)
  return { update, warnings }
}

/** Fields that go into the update as the schema read them. */
const AS_SENT = [
  'provider',
  'model',
  'responseModel',
  'seq',
  'parentRunId',
  'resumedFromRunId',
  'attempt',
  'agent',
  'countsScope',
  'usageByModel',
  'cost',
  'waitingFor',
  'trace',
  'userId',
  'environment',
  'tags',
  'metadata',
] as const satisfies (keyof RunUpdate)[]

type Draft = { -readonly [Field in keyof RunUpdate]: RunUpdate[Field] }

function set<Field extends keyof Draft>(update: Draft, field: Field, value: Draft[Field] | undefined): void {
  if (value !== undefined) update[field] = value
}

/** Adds token counts that the run lacks and every model has: their sum is the run's. */
function withModels(byModel: readonly ModelUsage[], reported: RunCounts | undefined): RunCounts | undefined {
  if (byModel.length === 0) return reported
  const counts: Record<string, number> = {}
  for (const name of TOKEN_COUNTS) {
    const sum = byModel.reduce((all, model) => all + (model.counts[name] ?? Number.NaN), 0)
    if (reported?.[name] === undefined && Number.isSafeInteger(sum)) counts[name] = sum
  }
  return Object.assign(counts, reported)
}

/** Joins the counts of the usage object and the explicit ones; explicit counts win. */
function withUsage(usage: UsageCounts, explicit: RunCounts | undefined, warnings: Warning[]): RunCounts | undefined {
  if (usage !== UNKNOWN_USAGE) return explicit === undefined ? usage : overruled(usage, explicit, warnings)
  const detail = 'is not a usage object of OpenAI, Anthropic, Gemini, Bedrock or the AI SDK, and was dropped'
  warnings.push({ code: 'unknown_field', pointer: '/run/usage', detail })
  return explicit
}

/** Explicit counts win over the usage object, with a warning where they differ. */
function overruled(usage: UsageCounts, explicit: RunCounts, warnings: Warning[]): RunCounts {
  for (const name of TOKEN_COUNTS) {
    const count = explicit[name]
    if (usage[name] === undefined || count === undefined || count === usage[name]) continue
    const detail = 'differs from the usage object, and was taken instead'
    warnings.push({ code: 'usage_overruled', pointer: `/run/counts/${name}`, detail })
  }
  return { ...usage, ...explicit }
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

function warnOfExclusiveCounts(run: RunPost, counts: RunCounts | undefined, warnings: Warning[]): void {
  if (counts && leavesOutCache(counts)) warnings.push(exclusive(reportedAt(run, 'inputTokens'), 'the cache'))
  if (counts && leavesOutReasoning(counts)) warnings.push(exclusive(reportedAt(run, 'outputTokens'), 'reasoning'))
  run.usageByModel?.forEach((model, index) => {
    const pointer = `/run/usageByModel/${index}/counts`
    if (leavesOutCache(model.counts)) warnings.push(exclusive(`${pointer}/inputTokens`, 'the cache'))
    if (leavesOutReasoning(model.counts)) warnings.push(exclusive(`${pointer}/outputTokens`, 'reasoning'))
  })
}

function reportedAt({ counts }: RunPost, count: 'inputTokens' | 'outputTokens'): string {
  return counts?.[count] === undefined ? '/run/usage' : `/run/counts/${count}`
}

function leavesOutCache(counts: RunCounts): boolean {
  const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens, totalTokens } = counts
  return leavesOut(cacheReadTokens + cacheWriteTokens, inputTokens, outputTokens, totalTokens)
}

function leavesOutReasoning({ inputTokens, outputTokens, reasoningTokens = 0, totalTokens }: RunCounts): boolean {
  return leavesOut(reasoningTokens, outputTokens, inputTokens, totalTokens)
}

/** Whether a count cannot include its part: the part is greater, or the total fits only with the part added. */
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

/** The warning for an end before the run's start. */
export const CLAMPED: Warning = {
  code: 'clamped',
  pointer: '/run/timings/endedAt',
  detail: 'lies before the start of the run, which is shown instead',
}
