import { metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import { createSallyport, defineEvents } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { memoryStore } from 'sallyport/storage/memory'
import { afterEach, describe, expect, it } from 'vitest'
import type { SallyportError } from '../../src/errors.ts'
import { otelRunExporter } from '../../src/otel/index.ts'
import type { LogFields } from '../../src/ports/logger.ts'
import { stillClock } from '../core/runs/recorder.ts'
import { testAuth } from '../support/deps.ts'
import { handled } from '../support/handled.ts'
import { fc } from '../support/properties.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'
import { anyRun, ended, FULL } from './ended-runs.ts'
import { millis, telemetry } from './telemetry.ts'

const DURATION = 'gen_ai.invoke_agent.duration'
const EVENTS = defineEvents({ ping: { channels: { log: { text: () => 'pong' } } } })
const APP = { id: 'app', tenant: 'default' }

afterEach(() => {
  trace.disable()
  metrics.disable()
})

describe('runs of a host', () => {
  const start = {
    status: 'running',
    timings: { startedAt: '2026-11-21T07:59:00.000Z' },
    agent: { name: 'support' },
    seq: 1,
  }
  const middle = { status: 'running', counts: { inputTokens: 10 }, seq: 2 }
  const end = {
    status: 'completed',
    timings: { endedAt: '2026-11-21T07:59:30.500Z' },
    counts: { inputTokens: 25 },
    seq: 3,
  }

  it.each(
    [
      ...[
        [start, middle, end],
        [start, end, middle],
        [middle, start, end],
        [middle, end, start],
        [end, start, middle],
      ],
      ...[[end, middle, start], [start, start, end, end, start, end], [{ ...start, ...middle, ...end }]],
    ].map((posts) => ({ order: posts.map(({ seq }) => seq).join(), posts })),
  )('A run becomes one span in any order of its posts: $order', async ({ posts }) => {
    const { sdk, post } = host()
    for (const run of posts) await post(run)
    expect(sdk.span().attributes).toMatchObject({ 'agent.run.id': 'r1', 'gen_ai.usage.input_tokens': 25 })
    expect(millis(sdk.span().endTime)).toBe(Date.parse('2026-11-21T07:59:30.500Z'))
    expect(await sdk.points(DURATION)).toMatchObject([{ value: { count: 1 } }])
  })

  it('An open run has no span', async () => {
    const { sdk, post } = host()
    await post(start)
    await post({ ...middle, status: 'waiting' })
    expect(sdk.spans()).toEqual([])
  })

  it('An expired run is exported as an error, and not again when it completes', async () => {
    const { sdk, post, clock, runs } = host()
    await post(start)
    clock.advance(60_000)
    expect(await runs.sweepStale({ olderThan: 30_000 })).toEqual({ expired: 1 })
    const { status, attributes, startTime, endTime } = sdk.span()
    expect(status).toEqual({ code: SpanStatusCode.ERROR })
    expect(attributes).toMatchObject({ 'error.type': 'expired', 'agent.run.status': 'expired' })
    expect([millis(startTime), millis(endTime)]).toEqual([Date.parse('2026-11-21T07:59:00.000Z'), clock.now() - 60_000])
    await post(end)
    expect(sdk.spans()).toHaveLength(1)
    expect(await sdk.points(DURATION)).toMatchObject([{ value: { count: 1 } }])
  })

  it.each([
    [
      'throws',
      'RangeError',
      () => {
        throw new RangeError('no such tag')
      },
    ],
    ['returns a promise', 'TypeError', async () => Promise.reject(new RangeError('no such tag'))],
  ])(
    'A run is exported without host attributes when their function %s, and the fault is logged',
    async (_, cause, attributes) => {
      const { sdk, post, lines } = host(attributes as never)
      await withoutStrayRejections(async () => expect(await post(end)).toMatchObject({ ok: true }))
      expect(sdk.span().attributes).toMatchObject({ 'agent.run.id': 'r1', 'gen_ai.usage.input_tokens': 25 })
      expect(await sdk.points(DURATION)).toHaveLength(1)
      expect(lines).toEqual([{ event: 'run.export_failed', runId: 'r1', cause, stack: expect.any(String) }])
    },
  )

  function host(attributes?: () => never) {
    const sdk = telemetry()
    const clock = stillClock()
    const lines: (LogFields & { readonly event: string })[] = []
    const logger = { log: (_: string, event: string, fields: LogFields) => void lines.push({ ...fields, event }) }
    const exporters = [otelRunExporter({ ...sdk.providers, ...(attributes && { attributes }) })]
    const { endpoints, runs } = createSallyport({
      auth: testAuth,
      events: EVENTS,
      store: memoryStore({ clock }),
      channels: { log: log() },
      clock,
      logger,
      exporters,
    })
    const post = (run: object) =>
      handled(endpoints, 'session_run', APP, { headers: {}, body: { sessionId: 's1', run: { runId: 'r1', ...run } } })
    return { sdk, clock, lines, post, runs }
  }
})

describe('an exporter without providers', () => {
  it('An exporter does nothing while no provider is registered', () => {
    const exporter = otelRunExporter()
    expect(exporter.export(FULL)).toBeUndefined()
  })

  it('An exporter uses providers registered after its first export', async () => {
    const exporter = otelRunExporter()
    exporter.export(ended())
    const sdk = telemetry()
    trace.setGlobalTracerProvider(sdk.tracerProvider)
    metrics.setGlobalMeterProvider(sdk.meterProvider)
    exporter.export(FULL)
    exporter.export(ended())
    expect(sdk.spans()).toHaveLength(2)
    expect(await sdk.points(DURATION)).toHaveLength(2)
  })

  it('An exporter with its own providers does not use the registered ones', async () => {
    const global = telemetry()
    trace.setGlobalTracerProvider(global.tracerProvider)
    metrics.setGlobalMeterProvider(global.meterProvider)
    const sdk = telemetry()
    otelRunExporter(sdk.providers).export(FULL)
    expect([global.spans().length, sdk.spans().length]).toEqual([0, 1])
    expect([(await global.metrics()).length, (await sdk.metrics()).length]).toEqual([0, 8])
  })
})

describe('the options of an exporter', () => {
  it('The exporter options may be missing, undefined or real providers', () => {
    const names = [
      'tracerProvider',
      'meterProvider',
      'spanKind',
      'cancelledIsError',
      'errorMessages',
      'cost',
      'attributes',
    ]
    otelRunExporter(Object.fromEntries(names.map((name) => [name, undefined])))
    const providers = { tracerProvider: trace.getTracerProvider(), meterProvider: metrics.getMeterProvider() }
    for (const spanKind of ['internal', 'client'] as const)
      otelRunExporter({ ...providers, spanKind, cancelledIsError: true, errorMessages: false, cost: true })
    otelRunExporter({ attributes: () => ({}) })
  })

  it('otelRunExporter() reports all wrong options at once', () => {
    const { meterProvider } = telemetry()
    const wrong = {
      tracerProvider: meterProvider,
      meterProvider: () => meterProvider,
      spanKind: 'server',
      cancelledIsError: 'yes',
      errorMessages: 1,
      cost: null,
      attributes: {},
      costs: true,
      constructor: true,
    }
    expect(problemsOf(wrong)).toEqual([
      { field: 'costs', detail: 'is not an option; near: cost' },
      { field: 'constructor', detail: expect.stringContaining('is not an option') },
      { field: 'tracerProvider', detail: 'has no getTracer; pass a TracerProvider of OpenTelemetry' },
      { field: 'meterProvider', detail: 'has no getMeter: must it be called? Pass a MeterProvider of OpenTelemetry' },
      { field: 'spanKind', detail: 'is "server"; must be one of internal, client' },
      { field: 'cancelledIsError', detail: 'is a string; must be true or false' },
      { field: 'errorMessages', detail: 'is 1; must be true or false' },
      { field: 'cost', detail: 'is null; must be true or false' },
      { field: 'attributes', detail: 'is an object; must be a function' },
    ])
    expect(problemsOf({ tracerProvider: null, meterProvider: null })).toHaveLength(2)
    expect(problemsOf(null)).toEqual([{ detail: 'is null; must be an object of options' }])
    expect(problemsOf([])).toEqual([{ detail: 'is an empty array; must be an object of options' }])
    expect(problemsOf('internal')).toEqual([{ detail: 'is a string; must be an object of options' }])
  })

  function problemsOf(options: unknown): unknown {
    try {
      otelRunExporter(options as never)
    } catch (thrown) {
      expect(thrown).toMatchObject({ name: 'SallyportError', code: 'option_invalid' })
      return (thrown as SallyportError).problems
    }
    throw new Error('the options were accepted')
  }
})

describe('any run', () => {
  it('Any run becomes one span with a valid time range, and export() never throws', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async (run) => {
        const before = structuredClone(run)
        const sdk = telemetry()
        otelRunExporter({ ...sdk.providers, cost: true, errorMessages: true, cancelledIsError: true }).export(run)
        expect(run).toEqual(before)
        const { startTime, endTime, attributes } = sdk.span()
        expect(startTime[0]).toBeGreaterThanOrEqual(0)
        expect(millis(endTime)).toBeGreaterThanOrEqual(millis(startTime))
        expect(attributes['agent.run.id']).toBe(run.runId)
        expect(Object.values(attributes)).not.toContain(undefined)
        const [duration] = await sdk.points(DURATION)
        expect(duration?.value).toMatchObject({
          count: 1,
          sum: expect.closeTo((millis(endTime) - millis(startTime)) / 1000, 3),
        })
      }),
    )
  })
})
