import { type Attributes, type Context, trace } from '@opentelemetry/api'
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, vi } from 'vitest'
import { CONVENTIONS } from '../../src/otel/conventions.ts'
import { otelRunExporter } from '../../src/otel/index.ts'
import type { EndedRun } from '../../src/ports/run-exporter.ts'
import { ended, FULL } from './ended-runs.ts'
import { millis, type Telemetry, telemetry } from './telemetry.ts'

const DURATION = 'gen_ai.invoke_agent.duration'
const MODEL_CALLS = 'gen_ai.invoke_agent.inference_calls'
const TOOL_CALLS = 'gen_ai.invoke_agent.tool_calls'
const USAGE = 'gen_ai.client.inference.usage'
const INPUT_TOKENS = `${USAGE}.input_tokens`

describe('the duration of a run', () => {
  it('The run duration equals that of the span, in seconds and in the buckets of the conventions', async () => {
    const sdk = exported(FULL)
    const { startTime, endTime } = sdk.span()
    expect(millis(endTime) - millis(startTime)).toBeCloseTo(20_249, 6)
    const [point, ...more] = await sdk.points(DURATION)
    expect(more).toEqual([])
    expect(point?.value).toMatchObject({
      count: 1,
      sum: 20.249,
      buckets: { boundaries: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6] },
    })
    expect(point?.attributes).toStrictEqual({
      'agent.run.status': 'completed',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'gen_ai.request.model': 'claude-x',
    })
  })

  it('The run duration has the error type as an attribute', async () => {
    const sdk = exported(ended({ status: 'expired' }), ended({ status: 'failed', error: { type: 'timeout' } }), ended())
    const operation = { 'gen_ai.operation.name': 'invoke_agent' }
    expect((await sdk.points(DURATION)).map(({ attributes }) => attributes)).toStrictEqual([
      { ...operation, 'agent.run.status': 'expired', 'error.type': 'expired' },
      { ...operation, 'agent.run.status': 'failed', 'error.type': 'timeout' },
      { ...operation, 'agent.run.status': 'completed' },
    ])
  })
})

describe('the metrics of what an agent reported', () => {
  const METRICS = [DURATION, MODEL_CALLS, INPUT_TOKENS]

  it.each([
    ['/status', METRICS],
    ['/timings/startedAt', [DURATION]],
    ['/timings/queuedAt', [DURATION]],
    ['/timings/endedAt', [DURATION]],
    ['/timings/durationMs', [DURATION]],
    ['/counts', [MODEL_CALLS, INPUT_TOKENS]],
    ['/usageByModel', [MODEL_CALLS, INPUT_TOKENS]],
    ['/cost', [MODEL_CALLS, INPUT_TOKENS]],
    ['/timings/activeMs', []],
    ['/metadata/status', []],
  ])('An agent that reported %s adds to series of its own', async (pointer, marked) => {
    const run = ended({ counts: { modelCalls: 1, inputTokens: 1 } })
    const sdk = exported(run, { ...run, byAgent: [pointer] })
    for (const metric of METRICS) {
      const reporters = (await sdk.points(metric)).map(({ attributes }) => attributes['agent.run.reported_by'])
      expect([metric, reporters]).toEqual([metric, marked.includes(metric) ? [undefined, 'agent'] : [undefined]])
    }
  })
})

describe('the calls of a run', () => {
  it('Model and tool calls are histograms by agent, and include zeros', async () => {
    const sdk = exported(FULL, ended({ agent: { name: 'support' }, counts: { modelCalls: 0, toolCalls: 0 } }))
    const boundaries = [1, 2, 4, 8, 16, 32, 64, 128]
    expect(await sdk.points(MODEL_CALLS)).toMatchObject([
      { attributes: { 'gen_ai.agent.name': 'support' }, value: { count: 2, min: 0, max: 4, buckets: { boundaries } } },
    ])
    expect(await sdk.points(TOOL_CALLS)).toMatchObject([
      { attributes: { 'gen_ai.agent.name': 'support' }, value: { count: 2, min: 0, max: 3, buckets: { boundaries } } },
    ])
  })

  it('Unknown call counts are not recorded', async () => {
    const sdk = exported(ended(), ended({ counts: {} }))
    expect(await sdk.points(MODEL_CALLS)).toEqual([])
    expect(await sdk.points(TOOL_CALLS)).toEqual([])
  })
})

describe('the tokens of a run', () => {
  it('Tokens are added up by provider and model', async () => {
    const sdk = exported(FULL, FULL, ended({ counts: { inputTokens: 7, outputTokens: 0 } }))
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'aws.bedrock',
      'gen_ai.request.model': 'claude-x',
      'gen_ai.response.model': 'claude-x-1',
      'gen_ai.token.modality': 'unknown',
    }
    const bare = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'unknown',
      'gen_ai.token.modality': 'unknown',
    }
    expect(await sdk.points(`${USAGE}.input_tokens`)).toStrictEqual([
      { attributes, value: 2000 },
      { attributes: bare, value: 7 },
    ])
    expect(await sdk.points(`${USAGE}.output_tokens`)).toEqual([
      { attributes, value: 600 },
      { attributes: bare, value: 0 },
    ])
    expect(await sdk.points(`${USAGE}.cache_read.input_tokens`)).toEqual([{ attributes, value: 1200 }])
    expect(await sdk.points(`${USAGE}.cache_write.input_tokens`)).toEqual([{ attributes, value: 200 }])
    expect(await sdk.points(`${USAGE}.reasoning.output_tokens`)).toEqual([{ attributes, value: 240 }])
  })

  it('Tokens are told apart by modality, as far as it was reported', async () => {
    const mixed = {
      inputTokens: 100,
      audioInputTokens: 30,
      imageInputTokens: 20,
      outputTokens: 40,
      audioOutputTokens: 40,
    }
    const wrong = { inputTokens: 5, audioInputTokens: 7 }
    const sdk = exported(ended({ counts: mixed }), ended({ counts: wrong }))
    const byModality = async (name: string): Promise<unknown> =>
      Object.fromEntries(
        (await sdk.points(name)).map(({ attributes, value }) => [attributes['gen_ai.token.modality'], value]),
      )
    expect(await byModality(`${USAGE}.input_tokens`)).toEqual({ audio: 30, image: 20, unknown: 55 })
    expect(await byModality(`${USAGE}.output_tokens`)).toEqual({ audio: 40 })
  })

  it('A run with usage by model records the tokens of each model', async () => {
    const usageByModel = [
      { provider: 'openai.chat', model: 'big', counts: { inputTokens: 900 } },
      { provider: 'mistral', model: 'small', counts: { inputTokens: 100, outputTokens: 5 } },
    ]
    const sdk = exported({ ...FULL, usageByModel })
    const points = await sdk.points(`${USAGE}.input_tokens`)
    const model = points.map(({ attributes: of, value }) => [
      of['gen_ai.provider.name'],
      of['gen_ai.request.model'],
      value,
    ])
    expect(model).toEqual([
      ['openai', 'big', 900],
      ['mistral_ai', 'small', 100],
    ])
    expect(await sdk.points(`${USAGE}.output_tokens`)).toMatchObject([{ value: 5 }])
    expect(await exported({ ...FULL, usageByModel: [] }).points(`${USAGE}.input_tokens`)).toMatchObject([
      { value: 1000 },
    ])
  })

  it('A run with the counts of its tree records neither calls nor tokens', async () => {
    const usageByModel = [{ provider: 'openai', model: 'big', counts: { inputTokens: 900 } }]
    const sdk = exported({ ...FULL, countsScope: 'tree', usageByModel })
    expect((await sdk.metrics()).map(({ descriptor }) => descriptor.name)).toEqual([DURATION])
  })
})

describe('the metrics', () => {
  it('The metrics have the units of the conventions', async () => {
    const sdk = exported(FULL)
    const units = (await sdk.metrics()).map(({ descriptor: { name, unit } }) => [name, unit])
    expect(Object.fromEntries(units)).toEqual({
      [DURATION]: 's',
      [MODEL_CALLS]: '{inference_call}',
      [TOOL_CALLS]: '{tool_call}',
      [`${USAGE}.input_tokens`]: '{token}',
      [`${USAGE}.cache_read.input_tokens`]: '{token}',
      [`${USAGE}.cache_write.input_tokens`]: '{token}',
      [`${USAGE}.output_tokens`]: '{token}',
      [`${USAGE}.reasoning.output_tokens`]: '{token}',
    })
    const [{ scope } = { scope: undefined }] = await sdk.scopes()
    expect(scope).toMatchObject({ name: 'sallyport', schemaUrl: CONVENTIONS.schemaUrl })
  })

  it('The metrics contain no run, session, user or tenant', async () => {
    const sdk = telemetry()
    const attributes = ({ userId }: EndedRun) => ({ 'user.id': userId })
    otelRunExporter({ ...sdk.providers, cost: true, errorMessages: true, attributes }).export({
      ...FULL,
      status: 'failed',
    })
    const reported = (await sdk.metrics()).flatMap(({ dataPoints }) => dataPoints.map((point) => point.attributes))
    expect(reported.length).toBeGreaterThan(7)
    expect(JSON.stringify(reported)).not.toMatch(/"(r1|r0|r-1|s1|a1|jane|acme)"|slower|0\.0125/)
  })

  it('The metrics are recorded in the context of the span, for exemplars', () => {
    const seen = new Set<string | undefined>()
    const recordContext = {
      process(attributes: Attributes, context?: Context) {
        seen.add(context && trace.getSpanContext(context)?.spanId)
        return attributes
      },
    }
    const sdk = telemetry(undefined, [{ instrumentName: '*', attributesProcessors: [recordContext] }])
    otelRunExporter(sdk.providers).export(FULL)
    expect([...seen]).toEqual([sdk.span().spanContext().spanId])
  })

  it('The exporter makes its instruments once', () => {
    const sdk = telemetry()
    const getMeter = vi.spyOn(sdk.meterProvider, 'getMeter')
    const exporter = otelRunExporter(sdk.providers)
    exporter.export(FULL)
    exporter.export(FULL)
    expect(getMeter).toHaveBeenCalledOnce()
  })

  it('The metrics include runs that the sampler drops', async () => {
    const sdk = telemetry(new AlwaysOffSampler())
    otelRunExporter(sdk.providers).export(FULL)
    expect(sdk.spans()).toEqual([])
    expect(await sdk.points(DURATION)).toHaveLength(1)
  })
})

function exported(...runs: readonly EndedRun[]): Telemetry {
  const sdk = telemetry()
  const exporter = otelRunExporter(sdk.providers)
  for (const run of runs) exporter.export(run)
  return sdk
}
