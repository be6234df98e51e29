/**
 * Exports runs as OpenTelemetry spans and metrics, by its conventions for generative AI, and metrics of dispatching.
 * @module sallyport/otel
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type MeterProvider,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { bool, choice, fn, has, like } from '../options/checks.ts'
import { type Checks, problemsAt, readOptions } from '../options/read-options.ts'
import type { EndedRun, RunExporter } from '../ports/run-exporter.ts'
import { CONVENTIONS, INVOKE_AGENT } from './conventions.ts'
import { type MeasuredSallyport, recordMetrics } from './metrics.ts'
import { createRunMetrics, type RunMetrics } from './run-metrics.ts'
import { attributesOf, costAttributesOf, errorTypeOf, timesOf } from './run-span.ts'

export type { MeasuredSallyport } from './metrics.ts'

/** Options of {@link otelRunExporter}. */
export interface OtelRunExporterOptions {
  /** Receives the spans. Default: the provider registered with `@opentelemetry/api`; without one there are no spans. */
  readonly tracerProvider?: TracerProvider
  /** Receives the metrics. Default: as for spans. */
  readonly meterProvider?: MeterProvider
  /** `client`: the agents are a remote service, and spans have their ids. Default: `internal`. */
  readonly spanKind?: 'internal' | 'client'
  /** Marks cancelled runs as errors: OpenTelemetry has no status for them. Default: `false`. */
  readonly cancelledIsError?: boolean
  /**
   * Exports `error.message` as the span's status message, which can quote personal data for every reader of the traces. Default: `false`.
   */
  readonly errorMessages?: boolean
  /** Exports the cost of runs, as `agent.run.cost.*`. Default: `false`. */
  readonly cost?: boolean
  /**
   * Returns further attributes of a run's span, which replace equal names. If it throws, the run is exported without them and the error
   * is logged. Default: none.
   */
  readonly attributes?: (run: EndedRun) => Attributes
}

const CHECKS: Checks<OtelRunExporterOptions> = {
  tracerProvider: has('a TracerProvider of OpenTelemetry', 'getTracer'),
  meterProvider: has('a MeterProvider of OpenTelemetry', 'getMeter'),
  spanKind: choice(['internal', 'client']),
  cancelledIsError: bool,
  errorMessages: bool,
  cost: bool,
  attributes: fn,
}

/**
 * Exports each run to OpenTelemetry when it ends: one `invoke_agent` span with the run's own times, and metrics. Follows a pinned version
 * of the GenAI semantic conventions, whose names may still change: see `docs/opentelemetry.md`. Pass it to `createSallyport` in `exporters`.
 * Needs `@opentelemetry/api` 1.9 or later.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function otelRunExporter(options: OtelRunExporterOptions = {}): RunExporter {
  const { tracerProvider, meterProvider, spanKind, attributes, ...flags } = readOptions(
    'otelRunExporter',
    options,
    CHECKS,
  )
  const { cancelledIsError = false, errorMessages = false, cost = false } = flags
  const kind = spanKind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL
  const metricsNow = currentMetrics(meterProvider)

  return {
    export(run) {
      const own = ownAttributes(run, attributes)
      const { start, end } = timesOf(run)
      const errorType = errorTypeOf(run, cancelledIsError)
      const tracer = (tracerProvider ?? trace).getTracer(SCOPE, undefined, { schemaUrl: CONVENTIONS.schemaUrl })
      const parent = parentOf(run)
      const span = tracer.startSpan(
        nameOf(run),
        {
          kind,
          startTime: new Date(start),
          attributes: {
            ...attributesOf(run, { errorType, isClient: kind === SpanKind.CLIENT }),
            ...(cost && costAttributesOf(run)),
            ...own.attributes,
          },
        },
        parent,
      )
      if (errorType !== undefined) span.setStatus(errorStatus(run, errorMessages))
      span.end(new Date(end))
      metricsNow()(run, { seconds: (end - start) / 1000, errorType, context: trace.setSpan(parent, span) })
      if ('thrown' in own) throw own.thrown
    },
  }
}

/** Options of {@link otelMetrics}. */
export interface OtelMetricsOptions {
  /** Receives the instruments. Default: the provider registered with `@opentelemetry/api` when it is called. */
  readonly meterProvider?: MeterProvider | undefined
  /** The tenant whose due deliveries the gauges show. Counters cover all tenants. Default: `default`. */
  readonly tenant?: string | undefined
}

const METRICS_CHECKS: Checks<OtelMetricsOptions> = {
  meterProvider: has('a MeterProvider of OpenTelemetry', 'getMeter'),
  tenant: like(/^[\x21-\x7e]{1,200}$/, 'must be 1-200 visible ASCII characters'),
}

/**
 * Records what this process does as OpenTelemetry metrics, for alerts: accepted dispatches, deliveries by channel and result, their
 * duration, runs; and gauges of what is due and of the workers alive. See `docs/metrics.md`. Returns a function that ends it.
 *
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function otelMetrics(sallyport: MeasuredSallyport, options: OtelMetricsOptions = {}): () => void {
  const { meterProvider, tenant } = readOptions('otelMetrics', options, METRICS_CHECKS, () => {
    const isMeasured = typeof Object(sallyport).onMeasurement === 'function'
    return problemsAt('sallyport', isMeasured ? undefined : 'must be what createSallyport(…) gave')
  })
  return recordMetrics(sallyport, (meterProvider ?? metrics).getMeter(SCOPE), tenant)
}

const SCOPE = 'sallyport'

/** Catches the host's error, so that the run is still exported. */
function ownAttributes(
  run: EndedRun,
  attributesFor: OtelRunExporterOptions['attributes'],
): { readonly attributes?: Attributes | undefined; readonly thrown?: unknown } {
  try {
    const attributes: unknown = attributesFor?.(run)
    if (!(attributes instanceof Promise)) return { attributes: attributes as Attributes }
    attributes.catch(() => {})
    throw new TypeError('attributes gave a promise')
  } catch (thrown) {
    return { thrown }
  }
}

function nameOf({ agent }: EndedRun): string {
  return agent?.name === undefined ? INVOKE_AGENT : `${INVOKE_AGENT} ${agent.name}`
}

/** The reported parent span or none: the active span belongs to a request. Posts have no trace flags, so the parent counts as sampled. */
function parentOf({ trace: reported }: EndedRun): Context {
  if (reported === undefined) return ROOT_CONTEXT
  const parent = { traceId: reported.traceId, spanId: reported.spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

function errorStatus({ error }: EndedRun, withMessage: boolean): SpanStatus {
  const { ERROR: code } = SpanStatusCode
  return withMessage && error?.message !== undefined ? { code, message: error.message } : { code }
}

/** Metrics of the current provider. Unlike tracers, meters do not follow a provider that is registered later. */
function currentMetrics(reported: MeterProvider | undefined): () => RunMetrics {
  let provider: MeterProvider | undefined
  let current: RunMetrics | undefined
  return () => {
    const now = reported ?? metrics.getMeterProvider()
    if (current === undefined || now !== provider) {
      provider = now
      current = createRunMetrics(now.getMeter(SCOPE, undefined, { schemaUrl: CONVENTIONS.schemaUrl }))
    }
    return current
  }
}
