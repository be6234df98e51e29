import type { Attributes } from '@opentelemetry/api'
import type { EndedRun } from '../ports/run-exporter.ts'
import { ATTRIBUTE, INVOKE_AGENT, OTHER_ERROR, providerName, RUN_ATTRIBUTE } from './conventions.ts'

/** Facts of a span that the run alone does not tell. */
interface SpanFacts {
  readonly errorType: string | undefined
  /** Whether the span is of a remote agent. */
  readonly isClient: boolean
}

export function attributesOf(run: EndedRun, { errorType, isClient }: SpanFacts): Attributes {
  const { agent, counts, provider, finishReason } = run
  return definedAttributes({
    [ATTRIBUTE.operationName]: INVOKE_AGENT,
    [ATTRIBUTE.conversationId]: run.sessionId,
    [ATTRIBUTE.sessionId]: run.sessionId,
    [ATTRIBUTE.agentId]: isClient ? agent?.id : undefined,
    [ATTRIBUTE.agentName]: agent?.name,
    [ATTRIBUTE.agentVersion]: agent?.version,
    [ATTRIBUTE.providerName]: providerName(provider),
    [ATTRIBUTE.requestModel]: run.model,
    [ATTRIBUTE.responseModel]: run.responseModel,
    [ATTRIBUTE.finishReasons]: finishReason === undefined ? undefined : [finishReason],
    [ATTRIBUTE.inputTokens]: counts?.inputTokens,
    [ATTRIBUTE.cacheReadTokens]: counts?.cacheReadTokens,
    [ATTRIBUTE.cacheWriteTokens]: counts?.cacheWriteTokens,
    [ATTRIBUTE.audioInputTokens]: counts?.audioInputTokens,
    [ATTRIBUTE.imageInputTokens]: counts?.imageInputTokens,
    [ATTRIBUTE.outputTokens]: counts?.outputTokens,
    [ATTRIBUTE.reasoningTokens]: counts?.reasoningTokens,
    [ATTRIBUTE.audioOutputTokens]: counts?.audioOutputTokens,
    [ATTRIBUTE.imageOutputTokens]: counts?.imageOutputTokens,
    [ATTRIBUTE.errorType]: errorType,
    ...runAttributes(run),
  })
}

/** Values of a run, as pointers of `byAgent`, that a part of its telemetry is made of. */
const PARTS = {
  status: ['/status'],
  duration: ['/status', '/timings/queuedAt', '/timings/startedAt', '/timings/endedAt', '/timings/durationMs'],
  usage: ['/status', '/counts', '/usageByModel', '/cost'],
} as const

/** `agent` if only an agent reported a value of this part; otherwise `undefined`. */
export function reporterOf({ byAgent }: EndedRun, part: keyof typeof PARTS): 'agent' | undefined {
  return byAgent && PARTS[part].some((pointer) => byAgent.includes(pointer)) ? 'agent' : undefined
}

function runAttributes(run: EndedRun): Attributes {
  const { counts, timings } = run
  return {
    [RUN_ATTRIBUTE.id]: run.runId,
    [RUN_ATTRIBUTE.status]: run.status,
    [RUN_ATTRIBUTE.parentId]: run.parentRunId,
    [RUN_ATTRIBUTE.resumedFromId]: run.resumedFromRunId,
    [RUN_ATTRIBUTE.attempt]: run.attempt,
    [RUN_ATTRIBUTE.reportedBy]: reporterOf(run, 'status'),
    [RUN_ATTRIBUTE.environment]: run.environment,
    [RUN_ATTRIBUTE.countsScope]: run.countsScope,
    [RUN_ATTRIBUTE.totalTokens]: counts?.totalTokens,
    [RUN_ATTRIBUTE.modelCalls]: counts?.modelCalls,
    [RUN_ATTRIBUTE.toolCalls]: counts?.toolCalls,
    [RUN_ATTRIBUTE.toolErrors]: counts?.toolErrors,
    [RUN_ATTRIBUTE.steps]: counts?.steps,
    [RUN_ATTRIBUTE.retries]: counts?.retries,
    [RUN_ATTRIBUTE.messages]: counts?.messages,
    [RUN_ATTRIBUTE.timeToFirstToken]: inSeconds(firstTokenAfterMs(timings)),
    [RUN_ATTRIBUTE.activeDuration]: inSeconds(timings?.activeMs),
    [RUN_ATTRIBUTE.modelDuration]: inSeconds(timings?.modelMs),
    [RUN_ATTRIBUTE.toolDuration]: inSeconds(timings?.toolMs),
  }
}

/** A double is not exact: read sums of money from the store. */
export function costAttributesOf({ cost }: EndedRun): Attributes {
  if (cost === undefined) return {}
  return {
    [RUN_ATTRIBUTE.costAmount]: Number(cost.amount),
    [RUN_ATTRIBUTE.costCurrency]: cost.currency,
    [RUN_ATTRIBUTE.costSource]: cost.source,
  }
}

/** `error.type` of a run; `undefined` if it ended without an error. */
export function errorTypeOf({ status, error }: EndedRun, cancelledIsError: boolean): string | undefined {
  if (status === 'expired') return status
  if (status === 'failed') return error?.type ?? OTHER_ERROR
  if (status === 'cancelled' && cancelledIsError) return error?.type ?? status
  return undefined
}

export function definedAttributes(attributes: Attributes): Attributes {
  const kept: Attributes = {}
  for (const name of Object.keys(attributes)) if (attributes[name] !== undefined) kept[name] = attributes[name]
  return kept
}

function firstTokenAfterMs(timings: EndedRun['timings']): number | undefined {
  if (timings?.timeToFirstTokenMs !== undefined) return timings.timeToFirstTokenMs
  const began = spanInstant(timings?.startedAt)
  const first = spanInstant(timings?.firstTokenAt)
  return began === undefined || first === undefined || first < began ? undefined : first - began
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}

/** Epoch milliseconds; `end` is never before `start`. */
interface RunTimes {
  readonly start: number
  readonly end: number
}

/** Last millisecond of OTLP, which has unsigned 64 bits for nanoseconds. */
const LATEST = 18_446_744_073_709

/** Start and end of a run: as reported, else derived from the queue time, the duration, and the first and last report. */
export function timesOf({ timings, createdAt, lastSeenAt }: EndedRun): RunTimes {
  const began = spanInstant(timings?.startedAt ?? timings?.queuedAt)
  const ended = spanInstant(timings?.endedAt)
  const took = timings?.durationMs
  const touched = spanInstant(lastSeenAt) ?? 0
  if (began !== undefined) return ordered(began, ended ?? (took === undefined ? touched : began + took))
  const end = ended ?? touched
  return ordered(took === undefined ? Math.min(spanInstant(createdAt) ?? 0, end) : end - took, end)
}

/** Epoch milliseconds of an RFC 3339 text; `undefined` for any other text. */
function spanInstant(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

function ordered(start: number, end: number): RunTimes {
  const from = Math.min(Math.max(start, 0), LATEST)
  return { start: from, end: Math.min(Math.max(end, from), LATEST) }
}
