import type { Attributes, Context, Counter, Histogram, Meter } from '@opentelemetry/api'
import type { RunCounts } from '../model/run.ts'
import type { EndedRun } from '../ports/run-exporter.ts'
import {
  ATTRIBUTE,
  HISTOGRAM,
  INVOKE_AGENT,
  MODALITIES,
  providerName,
  RUN_ATTRIBUTE,
  TOKEN_COUNTER,
  UNKNOWN_MODALITY,
} from './conventions.ts'
import { definedAttributes, reporterOf } from './run-span.ts'

export interface Measured {
  readonly seconds: number
  readonly errorType: string | undefined
  /** Context of the span, for exemplars. */
  readonly context: Context
}

/** Records the metrics of an ended run. Ids of runs, sessions or users are never attributes. */
export type RunMetrics = (run: EndedRun, measured: Measured) => void

type Share = Pick<EndedRun, 'provider' | 'model' | 'responseModel' | 'counts'>

type TokenCount = keyof typeof TOKEN_COUNTER

export function createRunMetrics(meter: Meter): RunMetrics {
  const duration = histogram(meter, HISTOGRAM.duration)
  const modelCalls = histogram(meter, HISTOGRAM.modelCalls)
  const toolCalls = histogram(meter, HISTOGRAM.toolCalls)
  const tokens = tokenCounters(meter)

  return (run, { seconds, errorType, context }) => {
    const name = { [ATTRIBUTE.agentName]: run.agent?.name }
    const ended = { [RUN_ATTRIBUTE.status]: run.status, [ATTRIBUTE.requestModel]: run.model }
    const endedBy = { [RUN_ATTRIBUTE.reportedBy]: reporterOf(run, 'duration') }
    // The conventions record workflows in the same histogram, which the operation tells apart.
    const operation = { [ATTRIBUTE.operationName]: INVOKE_AGENT }
    const measured = { ...operation, ...name, ...ended, ...endedBy, [ATTRIBUTE.errorType]: errorType }
    duration.record(seconds, definedAttributes(measured), context)
    // Counts of a tree include child runs, which are recorded separately.
    if (run.countsScope === 'tree') return
    const meteredBy = { [RUN_ATTRIBUTE.reportedBy]: reporterOf(run, 'usage') }
    const calls = definedAttributes({ ...name, ...meteredBy })
    if (run.counts?.modelCalls !== undefined) modelCalls.record(run.counts.modelCalls, calls, context)
    if (run.counts?.toolCalls !== undefined) toolCalls.record(run.counts.toolCalls, calls, context)
    countTokens(run, meteredBy, tokens, context)
  }
}

function countTokens(
  run: EndedRun,
  meteredBy: Attributes,
  counters: ReadonlyMap<TokenCount, Counter>,
  context: Context,
): void {
  const shares: readonly Share[] = run.usageByModel?.length ? run.usageByModel : [run]
  for (const share of shares) {
    const attributes = definedAttributes({ ...tokenAttributes(share), ...meteredBy })
    for (const [count, counter] of counters)
      for (const [modality, tokens] of tokensByModality(count, share.counts))
        counter.add(tokens, { ...attributes, [ATTRIBUTE.tokenModality]: modality }, context)
  }
}

/** The tokens of a count by modality. Parts that exceed their whole are not told apart. */
function tokensByModality(count: TokenCount, counts: RunCounts = {}): readonly (readonly [string, number])[] {
  const all = counts[count]
  if (all === undefined) return []
  const names: Readonly<Record<string, keyof RunCounts>> = Object.hasOwn(MODALITIES, count)
    ? MODALITIES[count as keyof typeof MODALITIES]
    : {}
  const parts = Object.entries(names).map(([modality, name]) => [modality, Number(counts[name] ?? 0)] as const)
  const left = parts.reduce((rest, [, tokens]) => rest - tokens, all)
  const used = parts.filter(([, tokens]) => tokens > 0)
  if (left < 0 || used.length === 0) return [[UNKNOWN_MODALITY, all]]
  return left > 0 ? [...used, [UNKNOWN_MODALITY, left]] : used
}

function tokenAttributes({ provider, model, responseModel }: Share): Attributes {
  return {
    [ATTRIBUTE.operationName]: INVOKE_AGENT,
    [ATTRIBUTE.providerName]: providerName(provider),
    [ATTRIBUTE.requestModel]: model,
    [ATTRIBUTE.responseModel]: responseModel,
  }
}

function histogram(meter: Meter, { name, buckets, ...options }: (typeof HISTOGRAM)[keyof typeof HISTOGRAM]): Histogram {
  return meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...buckets] } })
}

function tokenCounters(meter: Meter): ReadonlyMap<TokenCount, Counter> {
  const counters = new Map<TokenCount, Counter>()
  for (const count of Object.keys(TOKEN_COUNTER) as TokenCount[]) {
    const { name, description } = TOKEN_COUNTER[count]
    counters.set(count, meter.createCounter(name, { description, unit: '{token}' }))
  }
  return counters
}
