/**
 * Runs as spans and metrics of OpenTelemetry, by its conventions for generative AI.
 *
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
import { bool, fn, has, oneOf } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { EndedRun, RunExporter } from '../ports/run-exporter.ts'
import { CONVENTIONS, INVOKE_AGENT } from './conventions.ts'
import { attributesOf, costAttributesOf, errorTypeOf } from './run-attributes.ts'
import { createRunMetrics, type RunMetrics } from './run-metrics.ts'
import { timesOf } from './run-times.ts'

/** What `otelRunExporter` passes on, and where to. */
export interface OtelRunExporterOptions {
  /** Takes the spans. Default: the one registered with `@opentelemetry/api`; none is, no spans. */
  readonly tracerProvider?: TracerProvider
  /** Takes the metrics. Default: the one registered with `@opentelemetry/api`; none is, no metrics. */
  readonly meterProvider?: MeterProvider
  /** `client`: the agents are a remote service, called over the network. Default: `internal`. */
  readonly spanKind?: 'internal' | 'client'
  /** Have cancelled runs be errors: OpenTelemetry has no status for them. Default: `false`, and they are not. */
  readonly cancelledIsError?: boolean
  /**
   * Pass on `error.message` as the message of the span's status. Errors can quote what a person wrote, and whoever reads
   * traces reads it too. Default: `false`.
   */
  readonly errorMessages?: boolean
  /** Pass on what runs cost, as `agent.run.cost.*`. Default: `false`. */
  readonly cost?: boolean
  /**
   * Further attributes of a run's span, such as its tenant or one of its tags; they replace ours of the same name. Where it
   * throws, the run is exported without them, and what it threw is logged. Default: none.
   */
  readonly attributes?: (run: EndedRun) => Attributes
}

const CHECKS: Checks<OtelRunExporterOptions> = {
  tracerProvider: has('getTracer'),
  meterProvider: has('getMeter'),
  spanKind: oneOf(['internal', 'client']),
  cancelledIsError: bool,
  errorMessages: bool,
  cost: bool,
  attributes: fn,
}

/**
 * Passes runs on to OpenTelemetry as they end: one `invoke_agent` span each, with its true times, and metrics. Follows the
 * GenAI semantic conventions, which are in development, in one pinned version: `docs/opentelemetry.md` has it all.
 *
 * Pass it to `createSallyport` as one of `exporters`. Needs `@opentelemetry/api` 1.9 or later.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
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
            ...attributesOf(run, errorType),
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

const SCOPE = 'sallyport'

/** The host's own attributes, or what it threw: that must not lose the run. */
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

/**
 * The span that the run told of, else nothing: never the one that is active here, which is that of a request. A post tells no
 * trace flags, so the parent counts as sampled.
 */
function parentOf({ trace: reported }: EndedRun): Context {
  if (reported === undefined) return ROOT_CONTEXT
  const parent = { traceId: reported.traceId, spanId: reported.spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

function errorStatus({ error }: EndedRun, withMessage: boolean): SpanStatus {
  const { ERROR: code } = SpanStatusCode
  return withMessage && error?.message !== undefined ? { code, message: error.message } : { code }
}

/** The metrics of the provider that there is now: unlike tracers, meters do not notice one that is registered later. */
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
