import { type Context, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AlwaysOffSampler,
  ParentBasedSampler,
  type ReadableSpan,
  SamplingDecision,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, it } from 'vitest'
import { CONVENTIONS } from '../../src/otel/conventions.ts'
import { type OtelRunExporterOptions, otelRunExporter } from '../../src/otel/index.ts'
import type { EndedRun } from '../../src/ports/run-exporter.ts'
import { CREATED, ended, FULL, LAST_SEEN } from './ended-runs.ts'
import { millis, telemetry } from './telemetry.ts'

afterEach(() => {
  context.disable()
  trace.disable()
})

describe('the span of a run', () => {
  it('The span has all run data under the names of the conventions and of Sallyport', () => {
    const { attributes, name, kind, status, instrumentationScope } = spanOf(FULL)
    expect(name).toBe('invoke_agent support')
    expect(kind).toBe(SpanKind.INTERNAL)
    expect(status).toEqual({ code: SpanStatusCode.UNSET })
    expect(instrumentationScope).toMatchObject({ name: 'sallyport', schemaUrl: CONVENTIONS.schemaUrl })
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 's1',
      'session.id': 's1',
      'gen_ai.agent.name': 'support',
      'gen_ai.agent.version': '3',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'claude-x',
      'gen_ai.response.model': 'claude-x-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.cache_read.input_tokens': 600,
      'gen_ai.usage.cache_write.input_tokens': 100,
      'gen_ai.usage.output_tokens': 300,
      'gen_ai.usage.reasoning.output_tokens': 120,
      'agent.run.id': 'r1',
      'agent.run.status': 'completed',
      'agent.run.parent_id': 'r0',
      'agent.run.resumed_from_id': 'r-1',
      'agent.run.attempt': 2,
      'agent.run.environment': 'live',
      'agent.run.counts_scope': 'self',
      'agent.run.total_tokens': 1300,
      'agent.run.model_calls': 4,
      'agent.run.tool_calls': 3,
      'agent.run.tool_errors': 1,
      'agent.run.steps': 5,
      'agent.run.retries': 2,
      'agent.run.messages': 9,
      'agent.run.time_to_first_token': 0.74,
      'agent.run.active_duration': 12,
      'agent.run.model_duration': 9,
      'agent.run.tool_duration': 3.5,
    })
  })

  it('The span has no attributes for unknown data, but a provider, which the conventions require', () => {
    const { name, attributes } = spanOf(ended())
    expect(name).toBe('invoke_agent')
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 's1',
      'session.id': 's1',
      'gen_ai.provider.name': 'unknown',
      'agent.run.id': 'r1',
      'agent.run.status': 'completed',
    })
  })

  it('The span name has no suffix for an agent without a name', () => {
    expect(spanOf(ended({ agent: { id: 'a1' } })).name).toBe('invoke_agent')
  })

  it('The span keeps counts and durations of zero', () => {
    const { attributes } = spanOf(ended({ counts: { inputTokens: 0, toolCalls: 0 }, timings: { toolMs: 0 } }))
    expect(attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 0,
      'agent.run.tool_calls': 0,
      'agent.run.tool_duration': 0,
    })
  })

  it('The span leaves out user, error message, tags, metadata, cost and tenant by default', () => {
    const { attributes, status } = spanOf({ ...FULL, status: 'failed' })
    expect(JSON.stringify([attributes, status])).not.toMatch(/jane|slower|vip|gold|0\.0125|USD|acme|ownCounter/i)
  })

  it('The span has the cost if `cost` is set', () => {
    expect(spanOf(FULL, { cost: true }).attributes).toMatchObject({
      'agent.run.cost.amount': 0.0125,
      'agent.run.cost.currency': 'USD',
      'agent.run.cost.source': 'local',
    })
    expect(Object.keys(spanOf(ended(), { cost: true }).attributes)).toEqual(Object.keys(spanOf(ended()).attributes))
  })

  it('Attributes of the host replace those of the exporter', () => {
    const attributes = ({ tenant, tags }: EndedRun) => ({
      tenant,
      'user.vip': tags?.includes('vip') ?? false,
      'session.id': 'x',
    })
    const span = spanOf(FULL, { attributes })
    expect(span.attributes).toMatchObject({ tenant: 'acme', 'user.vip': true, 'session.id': 'x', 'agent.run.id': 'r1' })
  })

  it('The id of an agent is on client spans only', () => {
    expect(spanOf(FULL).attributes).not.toHaveProperty(['gen_ai.agent.id'])
    expect(spanOf(FULL, { spanKind: 'client' }).attributes['gen_ai.agent.id']).toBe('a1')
  })

  it('The span has the tokens of audio and images', () => {
    const counts = { audioInputTokens: 30, imageInputTokens: 20, audioOutputTokens: 4, imageOutputTokens: 0 }
    expect(spanOf(ended({ counts })).attributes).toMatchObject({
      'gen_ai.usage.audio.input_tokens': 30,
      'gen_ai.usage.image.input_tokens': 20,
      'gen_ai.usage.audio.output_tokens': 4,
      'gen_ai.usage.image.output_tokens': 0,
    })
  })

  it('The span kind is set by `spanKind`', () => {
    expect(spanOf(FULL, { spanKind: 'client' }).kind).toBe(SpanKind.CLIENT)
    expect(spanOf(FULL, { spanKind: 'internal' }).kind).toBe(SpanKind.INTERNAL)
  })

  it.each([
    [{ timeToFirstTokenMs: 0, startedAt: CREATED, firstTokenAt: LAST_SEEN }, 0],
    [{ startedAt: CREATED, firstTokenAt: '2026-11-21T08:00:01.500Z' }, 1.5],
    [{ startedAt: LAST_SEEN, firstTokenAt: CREATED }, undefined],
    [{ firstTokenAt: CREATED }, undefined],
    [{ startedAt: CREATED }, undefined],
  ])('With timings %j, the time to the first token is %s s', (timings, seconds) => {
    expect(spanOf(ended({ timings })).attributes['agent.run.time_to_first_token']).toBe(seconds)
  })
})

describe('the status', () => {
  const error = { type: 'rate_limit', message: 'Jane said: slower' }

  it.each([
    ['completed', undefined],
    ['incomplete', undefined],
    ['cancelled', undefined],
    ['failed', 'rate_limit'],
    ['expired', 'expired'],
  ] as const)('The span of a run with status %s has error type %s', (status, errorType) => {
    const span = spanOf(ended({ status, error }))
    const code = errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR
    expect(span.status).toEqual({ code })
    expect(span.attributes['error.type']).toBe(errorType)
    expect(span.attributes['agent.run.status']).toBe(status)
  })

  it('The error type of a failed run without an error is `_OTHER`', () => {
    expect(spanOf(ended({ status: 'failed' })).attributes['error.type']).toBe('_OTHER')
  })

  it('The span of a cancelled run is an error if `cancelledIsError` is set', () => {
    const span = spanOf(ended({ status: 'cancelled' }), { cancelledIsError: true })
    expect(span.status.code).toBe(SpanStatusCode.ERROR)
    expect(span.attributes['error.type']).toBe('cancelled')
    const reported = spanOf(ended({ status: 'cancelled', error }), { cancelledIsError: true })
    expect(reported.attributes['error.type']).toBe('rate_limit')
    expect(spanOf(ended({ status: 'incomplete' }), { cancelledIsError: true }).status.code).toBe(SpanStatusCode.UNSET)
  })

  it('The span status has the error message if `errorMessages` is set', () => {
    const options = { errorMessages: true }
    expect(spanOf(ended({ status: 'failed', error }), options).status.message).toBe('Jane said: slower')
    expect(spanOf(ended({ status: 'failed', error: { type: 'x' } }), options).status).toEqual({
      code: SpanStatusCode.ERROR,
    })
    expect(spanOf(ended({ status: 'completed', error }), options).status).toEqual({ code: SpanStatusCode.UNSET })
  })
})

describe('the times', () => {
  const QUEUED = '2026-11-21T07:59:59.998Z'
  const STARTED = '2026-11-21T08:00:01.001Z'
  const ENDED = '2026-11-21T08:00:21.250Z'

  it.each([
    ['startedAt and endedAt', { queuedAt: QUEUED, startedAt: STARTED, endedAt: ENDED, durationMs: 5 }, STARTED, ENDED],
    ['queuedAt and endedAt', { queuedAt: QUEUED, endedAt: ENDED, durationMs: 5 }, QUEUED, ENDED],
    ['startedAt and durationMs', { startedAt: STARTED, durationMs: 249 }, STARTED, '2026-11-21T08:00:01.250Z'],
    ['startedAt', { startedAt: STARTED }, STARTED, LAST_SEEN],
    ['endedAt and durationMs', { endedAt: ENDED, durationMs: 1250 }, '2026-11-21T08:00:20.000Z', ENDED],
    ['endedAt', { endedAt: ENDED }, CREATED, ENDED],
    ['durationMs', { durationMs: 45_000 }, '2026-11-21T07:59:45.000Z', LAST_SEEN],
    ['the first and last post', {}, CREATED, LAST_SEEN],
    ['an end before it was created here', { endedAt: QUEUED }, QUEUED, QUEUED],
    ['an end before its start', { startedAt: ENDED, endedAt: STARTED }, ENDED, ENDED],
    [
      'a duration before 1970',
      { endedAt: ENDED, durationMs: Number.MAX_SAFE_INTEGER },
      '1970-01-01T00:00:00.000Z',
      ENDED,
    ],
    [
      'a duration beyond the last valid time',
      { startedAt: STARTED, durationMs: Number.MAX_SAFE_INTEGER },
      STARTED,
      '2554-07-21T23:34:33.709Z',
    ],
  ])('The span takes its times from %s, to the millisecond', (_, timings, start, end) => {
    const span = spanOf(ended({ timings }))
    expect(at(span.startTime)).toBe(start)
    expect(at(span.endTime)).toBe(end)
  })

  it('The span times do not depend on the time of export, even long before this process', () => {
    const timings = { startedAt: '1970-01-01T00:00:00.007Z', endedAt: '1970-01-01T00:00:00.009Z' }
    const span = spanOf(ended({ timings }))
    expect([at(span.startTime), at(span.endTime)]).toEqual([timings.startedAt, timings.endedAt])
  })
})

describe('the parent', () => {
  const reported = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

  it('The span is a child of the reported trace context', () => {
    const span = spanOf(ended({ trace: reported }))
    expect(span.spanContext().traceId).toBe(reported.traceId)
    expect(span.spanContext().spanId).not.toBe(reported.spanId)
    expect(span.parentSpanContext).toEqual({ ...reported, traceFlags: 1, isRemote: true })
  })

  it.each([
    { ...reported, traceId: '0'.repeat(32) },
    { ...reported, spanId: '0'.repeat(16) },
    { ...reported, traceId: reported.spanId },
    { ...reported, spanId: 'nonsense' },
  ])('The span starts a new trace when the reported context is malformed: %j', (malformed) => {
    const parents: unknown[] = []
    const sampler = {
      shouldSample(parent: Context) {
        parents.push(trace.getSpanContext(parent))
        return { decision: SamplingDecision.RECORD_AND_SAMPLED }
      },
    }
    const sdk = telemetry(sampler)
    otelRunExporter(sdk.providers).export(ended({ trace: malformed }))
    const span = sdk.span()
    expect(parents).toEqual([undefined])
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.spanContext().traceId).not.toBe(malformed.traceId)
  })

  it('The span is never a child of the active request, and never becomes active', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const { tracerProvider, spans } = telemetry()
    const exporter = otelRunExporter({ tracerProvider })
    tracerProvider.getTracer('http').startActiveSpan('POST', (request) => {
      exporter.export(ended())
      exporter.export(ended({ trace: reported }))
      expect(trace.getActiveSpan()).toBe(request)
    })
    const [root, child] = spans()
    expect(root?.parentSpanContext).toBeUndefined()
    expect(child?.parentSpanContext?.spanId).toBe(reported.spanId)
  })

  it('The reported parent counts as sampled', () => {
    const sdk = telemetry(new ParentBasedSampler({ root: new AlwaysOffSampler() }))
    const exporter = otelRunExporter(sdk.providers)
    exporter.export(ended())
    expect(sdk.spans()).toEqual([])
    exporter.export(ended({ trace: reported }))
    expect(sdk.span().spanContext().traceId).toBe(reported.traceId)
  })

  it('The sampler decides on the span, and gets its initial attributes', () => {
    const seen: object[] = []
    const sampler = {
      shouldSample: (...[, , name, kind, attributes]: readonly unknown[]) => {
        seen.push({ name, kind, attributes })
        return { decision: SamplingDecision.NOT_RECORD }
      },
    }
    const sdk = telemetry(sampler)
    otelRunExporter(sdk.providers).export({ ...FULL, status: 'failed' })
    expect(sdk.spans()).toEqual([])
    const attributes = expect.objectContaining({ 'gen_ai.agent.name': 'support', 'error.type': 'rate_limit' })
    expect(seen).toEqual([{ name: 'invoke_agent support', kind: SpanKind.INTERNAL, attributes }])
  })
})

describe('the provider', () => {
  it.each([
    ['openai', 'openai'],
    ['OpenAI.chat', 'openai'],
    ['anthropic.messages', 'anthropic'],
    ['amazon-bedrock', 'aws.bedrock'],
    ['azure', 'azure.ai.openai'],
    ['azure.ai.inference', 'azure.ai.inference'],
    ['azure-openai.responses', 'azure.ai.openai'],
    ['google', 'gcp.gemini'],
    ['google.generative-ai', 'gcp.gemini'],
    ['google.vertex.chat', 'gcp.vertex_ai'],
    ['vertex', 'gcp.vertex_ai'],
    ['gcp.vertex_ai', 'gcp.vertex_ai'],
    ['mistral.chat', 'mistral_ai'],
    ['xai', 'x_ai'],
    ['Acme.Chat', 'Acme.Chat'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    ['.', '.'],
  ])('The provider %s is exported as %s', (provider, name) => {
    expect(spanOf(ended({ provider })).attributes['gen_ai.provider.name']).toBe(name)
  })
})

function spanOf(run: EndedRun, options: OtelRunExporterOptions = {}): ReadableSpan {
  const { tracerProvider, span } = telemetry()
  otelRunExporter({ tracerProvider, ...options }).export(run)
  return span()
}

function at(time: readonly [number, number]): string {
  return new Date(millis(time)).toISOString()
}
