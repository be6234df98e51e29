import type { Attributes } from '@opentelemetry/api'
import {
  type DataPoint,
  type Histogram,
  MeterProvider,
  type MetricData,
  MetricReader,
  type ScopeMetrics,
  type ViewOptions,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

class ReaderOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A measured value or sum for one set of attributes. */
export interface Point {
  readonly attributes: Attributes
  readonly value: number | Histogram
}

interface Providers {
  readonly tracerProvider: BasicTracerProvider
  readonly meterProvider: MeterProvider
}

/** The real SDK with exporters in memory. */
export interface Telemetry extends Providers {
  /** The providers as options of an exporter. */
  readonly providers: Providers
  spans(): ReadableSpan[]
  /** The only span; throws if there are none or several. */
  span(): ReadableSpan
  scopes(): Promise<ScopeMetrics[]>
  metrics(): Promise<MetricData[]>
  points(metric: string): Promise<Point[]>
}

export function telemetry(sampler?: Sampler, views: ViewOptions[] = []): Telemetry {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  const reader = new ReaderOnDemand()
  const scopes = async () => (await reader.collect()).resourceMetrics.scopeMetrics
  const metrics = async () => (await scopes()).flatMap((scope) => scope.metrics)
  const providers: Providers = {
    tracerProvider: new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) }),
    meterProvider: new MeterProvider({ readers: [reader], views }),
  }
  return {
    ...providers,
    providers,
    spans: () => exporter.getFinishedSpans(),
    span() {
      const [span, ...more] = exporter.getFinishedSpans()
      if (span === undefined || more.length > 0) throw new Error(`${more.length + (span ? 1 : 0)} spans`)
      return span
    },
    scopes,
    metrics,
    async points(name) {
      const found = (await metrics()).find(({ descriptor }) => descriptor.name === name)
      const points = (found?.dataPoints ?? []) as readonly DataPoint<number | Histogram>[]
      return points.map(({ attributes, value }) => ({ attributes, value }))
    },
  }
}

/** Epoch milliseconds of an SDK time. */
export function millis([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1000 + nanos / 1e6
}
