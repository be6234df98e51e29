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
  it('says what is known of it, by the names of the conventions and of our own', () => {
    const { attributes, name, kind, status, instrumentationScope } = spanOf(FULL)
    expect(name).toBe('invoke_agent support')
    expect(kind).toBe(SpanKind.INTERNAL)
    expect(status).toEqual({ code: SpanStatusCode.UNSET })
    expect(instrumentationScope).toMatchObject({ name: 'sallyport', schemaUrl: CONVENTIONS.schemaUrl })
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 's1',
      'session.id': 's1',
      'gen_ai.agent.id': 'a1',
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

  it('says nothing that is not known', () => {
    const { name, attributes } = spanOf(ended())
    expect(name).toBe('invoke_agent')
    expect(attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 's1',
      'session.id': 's1',
      'agent.run.id': 'r1',
      'agent.run.status': 'completed',
    })
  })

  it('has no name after it when the agent has none', () => {
    expect(spanOf(ended({ agent: { id: 'a1' } })).name).toBe('invoke_agent')
  })

  it('keeps zeros', () => {
    const { attributes } = spanOf(ended({ counts: { inputTokens: 0, toolCalls: 0 }, timings: { toolMs: 0 } }))
    expect(attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 0,
      'agent.run.tool_calls': 0,
      'agent.run.tool_duration': 0,
    })
  })

  it('keeps to itself who the user is, what the error says, tags, metadata, cost and the tenant', () => {
    const { attributes, status } = spanOf({ ...FULL, status: 'failed' })
    expect(JSON.stringify([attributes, status])).not.toMatch(/jane|slower|vip|gold|0\.0125|USD|acme|ownCounter/i)
  })

  it('tells the cost when asked to', () => {
    expect(spanOf(FULL, { cost: true }).attributes).toMatchObject({
      'agent.run.cost.amount': 0.0125,
      'agent.run.cost.currency': 'USD',
      'agent.run.cost.source': 'local',
    })
    expect(Object.keys(spanOf(ended(), { cost: true }).attributes)).toHaveLength(5)
  })

  it('takes attributes of the host, which replace others', () => {
    const attributes = ({ tenant, tags }: EndedRun) => ({
      tenant,
      'user.vip': tags?.includes('vip') ?? false,
      'session.id': 'x',
    })
    const span = spanOf(FULL, { attributes })
    expect(span.attributes).toMatchObject({ tenant: 'acme', 'user.vip': true, 'session.id': 'x', 'agent.run.id': 'r1' })
  })

  it('is of a client when the agents are remote', () => {
    expect(spanOf(FULL, { spanKind: 'client' }).kind).toBe(SpanKind.CLIENT)
    expect(spanOf(FULL, { spanKind: 'internal' }).kind).toBe(SpanKind.INTERNAL)
  })

  it.each([
    [{ timeToFirstTokenMs: 0, startedAt: CREATED, firstTokenAt: LAST_SEEN }, 0],
    [{ startedAt: CREATED, firstTokenAt: '2026-11-21T08:00:01.500Z' }, 1.5],
    [{ startedAt: LAST_SEEN, firstTokenAt: CREATED }, undefined],
    [{ firstTokenAt: CREATED }, undefined],
    [{ startedAt: CREATED }, undefined],
  ])('knows of %j the time to the first token, %s s', (timings, seconds) => {
    expect(spanOf(ended({ timings })).attributes['agent.run.time_to_first_token']).toBe(seconds)
  })
})

describe('how it ended', () => {
  const error = { type: 'rate_limit', message: 'Jane said: slower' }

  it.each([
    ['completed', undefined],
    ['incomplete', undefined],
    ['cancelled', undefined],
    ['failed', 'rate_limit'],
    ['expired', 'expired'],
  ] as const)('%s: error %s', (status, errorType) => {
    const span = spanOf(ended({ status, error }))
    const code = errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR
    expect(span.status).toEqual({ code })
    expect(span.attributes['error.type']).toBe(errorType)
    expect(span.attributes['agent.run.status']).toBe(status)
  })

  it('is `_OTHER` for what failed and did not say how', () => {
    expect(spanOf(ended({ status: 'failed' })).attributes['error.type']).toBe('_OTHER')
  })

  it('is an error when cancelled, if the host says so', () => {
    const span = spanOf(ended({ status: 'cancelled' }), { cancelledIsError: true })
    expect(span.status.code).toBe(SpanStatusCode.ERROR)
    expect(span.attributes['error.type']).toBe('cancelled')
    const reported = spanOf(ended({ status: 'cancelled', error }), { cancelledIsError: true })
    expect(reported.attributes['error.type']).toBe('rate_limit')
    expect(spanOf(ended({ status: 'incomplete' }), { cancelledIsError: true }).status.code).toBe(SpanStatusCode.UNSET)
  })

  it('has the message of the error if the host says so', () => {
    const options = { errorMessages: true }
    expect(spanOf(ended({ status: 'failed', error }), options).status.message).toBe('Jane said: slower')
    expect(spanOf(ended({ status: 'failed', error: { type: 'x' } }), options).status).toEqual({
      code: SpanStatusCode.ERROR,
    })
    expect(spanOf(ended({ status: 'completed', error }), options).status).toEqual({ code: SpanStatusCode.UNSET })
  })
})

describe('when it was', () => {
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
    ['nothing', {}, CREATED, LAST_SEEN],
    ['an end before it was created here', { endedAt: QUEUED }, QUEUED, QUEUED],
    ['an end before its start', { startedAt: ENDED, endedAt: STARTED }, ENDED, ENDED],
    [
      'more time than there was',
      { endedAt: ENDED, durationMs: Number.MAX_SAFE_INTEGER },
      '1970-01-01T00:00:00.000Z',
      ENDED,
    ],
    [
      'more time than there will be',
      { startedAt: STARTED, durationMs: Number.MAX_SAFE_INTEGER },
      STARTED,
      '2554-07-21T23:34:33.709Z',
    ],
  ])('is taken from %s, to the millisecond', (_, timings, start, end) => {
    const span = spanOf(ended({ timings }))
    expect(at(span.startTime)).toBe(start)
    expect(at(span.endTime)).toBe(end)
  })

  it('does not depend on when it is exported: long before this process is as well', () => {
    const timings = { startedAt: '1970-01-01T00:00:00.007Z', endedAt: '1970-01-01T00:00:00.009Z' }
    const span = spanOf(ended({ timings }))
    expect([at(span.startTime), at(span.endTime)]).toEqual([timings.startedAt, timings.endedAt])
  })
})

describe('where it belongs', () => {
  const reported = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

  it('is under the span that the run told of', () => {
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
  ])('is a trace of its own when that is malformed: %j', (malformed) => {
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

  it('is never the request that told of it, and never becomes the active one', () => {
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

  it('counts as sampled there, as posts tell no flags', () => {
    const sdk = telemetry(new ParentBasedSampler({ root: new AlwaysOffSampler() }))
    const exporter = otelRunExporter(sdk.providers)
    exporter.export(ended())
    expect(sdk.spans()).toEqual([])
    exporter.export(ended({ trace: reported }))
    expect(sdk.span().spanContext().traceId).toBe(reported.traceId)
  })

  it('leaves the last word to the sampler, which sees all that is known from the start', () => {
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
  ])('%s is %s', (provider, name) => {
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
