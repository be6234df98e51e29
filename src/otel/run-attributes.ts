import type { Attributes } from '@opentelemetry/api'
import type { EndedRun } from '../ports/run-exporter.ts'
import { ATTRIBUTE, INVOKE_AGENT, OTHER_ERROR, providerName, RUN_ATTRIBUTE } from './conventions.ts'
import { spanInstant } from './run-times.ts'

/** What a run's span says of it, beside its name and times. What is not known is left out. */
export function attributesOf(run: EndedRun, errorType: string | undefined): Attributes {
  const { agent, counts, provider, finishReason } = run
  return definedAttributes({
    [ATTRIBUTE.operationName]: INVOKE_AGENT,
    [ATTRIBUTE.conversationId]: run.sessionId,
    [ATTRIBUTE.sessionId]: run.sessionId,
    [ATTRIBUTE.agentId]: agent?.id,
    [ATTRIBUTE.agentName]: agent?.name,
    [ATTRIBUTE.agentVersion]: agent?.version,
    [ATTRIBUTE.providerName]: provider === undefined ? undefined : providerName(provider),
    [ATTRIBUTE.requestModel]: run.model,
    [ATTRIBUTE.responseModel]: run.responseModel,
    [ATTRIBUTE.finishReasons]: finishReason === undefined ? undefined : [finishReason],
    [ATTRIBUTE.inputTokens]: counts?.inputTokens,
    [ATTRIBUTE.cacheReadTokens]: counts?.cacheReadTokens,
    [ATTRIBUTE.cacheWriteTokens]: counts?.cacheWriteTokens,
    [ATTRIBUTE.outputTokens]: counts?.outputTokens,
    [ATTRIBUTE.reasoningTokens]: counts?.reasoningTokens,
    [ATTRIBUTE.errorType]: errorType,
    ...runAttributes(run),
  })
}

function runAttributes(run: EndedRun): Attributes {
  const { counts, timings } = run
  return {
    [RUN_ATTRIBUTE.id]: run.runId,
    [RUN_ATTRIBUTE.status]: run.status,
    [RUN_ATTRIBUTE.parentId]: run.parentRunId,
    [RUN_ATTRIBUTE.resumedFromId]: run.resumedFromRunId,
    [RUN_ATTRIBUTE.attempt]: run.attempt,
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

/** What a run cost. A double cannot hold every amount: for sums of money ask the store. */
export function costAttributesOf({ cost }: EndedRun): Attributes {
  if (cost === undefined) return {}
  return {
    [RUN_ATTRIBUTE.costAmount]: Number(cost.amount),
    [RUN_ATTRIBUTE.costCurrency]: cost.currency,
    [RUN_ATTRIBUTE.costSource]: cost.source,
  }
}

/** Of what kind the error is that a run ended with; `undefined` when it ended without. */
export function errorTypeOf({ status, error }: EndedRun, cancelledIsError: boolean): string | undefined {
  if (status === 'expired') return status
  if (status === 'failed') return error?.type ?? OTHER_ERROR
  if (status === 'cancelled' && cancelledIsError) return error?.type ?? status
  return undefined
}

/** Without what is `undefined`. */
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
