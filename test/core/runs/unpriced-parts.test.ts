import { describe, expect, it } from 'vitest'
import type { Warning } from '../../../src/model/dispatch.ts'
import type { PriceBook, PricedUsage } from '../../../src/ports/price-book.ts'
import { priceBook } from '../../../src/pricing/index.ts'
import { answerOf, problemOf, recorder, runOf } from './recorder.ts'

const prices = priceBook({
  version: 'v1',
  prices: [
    {
      model: 'm',
      input: 1,
      output: 2,
      cacheRead: '0.1',
      tiers: [{ aboveInputTokens: 200_000, input: 2, output: 4, cacheRead: '0.2' }],
    },
    { model: 'm', serviceTier: 'batch', input: '0.5', output: 1, cacheRead: '0.05' },
    { model: 'whisper', unpriced: 'is priced by the second' },
  ],
})

/** Warnings about prices of a run that ended. */
async function warnings(run: object, book: PriceBook = prices): Promise<readonly Warning[]> {
  const answer = answerOf(await recorder({ prices: book }).post({ runId: 'r', status: 'completed', ...run }))
  const found = answer.warnings.filter(({ code }) => code.startsWith('unpriced'))
  expect(answer.run?.cost === undefined).toBe(found.length > 0)
  return found
}

const part = (pointer: string, reason: string): Warning[] => [
  { code: 'unpriced_part', pointer, detail: `${reason}, so that the run has no cost` },
]

describe('the warning `unpriced_part`', () => {
  it.each<[string, object, string, string]>([
    [
      'a kind of tokens without a price',
      { model: 'm', usage: { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 4 } } },
      '/run/counts/audioInputTokens',
      'has no price',
    ],
    [
      'a one-hour cache write',
      {
        model: 'm',
        usage: { input_tokens: 9, output_tokens: 1, cache_creation: { ephemeral_1h_input_tokens: 5 } },
      },
      '/run/counts/cacheWrite1hTokens',
      'has no price',
    ],
    [
      'searches',
      { model: 'm', usage: { input_tokens: 9, output_tokens: 1, server_tool_use: { web_search_requests: 1 } } },
      '/run/counts/billedSearches',
      'is of a unit that has no price',
    ],
    [
      'a service tier',
      { model: 'm', usage: { input_tokens: 9, output_tokens: 1, service_tier: 'priority' } },
      '/run/serviceTier',
      'has no prices for this model',
    ],
    [
      'a model by the second',
      { model: 'whisper', usage: { type: 'duration', seconds: 12.3 } },
      '/run/model',
      'is priced by the second',
    ],
    [
      'an unknown length of prompts',
      { model: 'm', counts: { inputTokens: 200_001, outputTokens: 1, modelCalls: 2 } },
      '/run/counts/modelCalls',
      'is not 1: prices depend on the prompt of each call, and the tokens of all calls are one sum',
    ],
    [
      'one of several models',
      {
        usageByModel: [
          { provider: 'p', model: 'm', counts: { inputTokens: 1, outputTokens: 1 } },
          { provider: 'p', model: 'm', counts: { inputTokens: 2, outputTokens: 1, imageInputTokens: 1 } },
        ],
      },
      '/run/usageByModel/1/counts/imageInputTokens',
      'has no price',
    ],
    [
      'a service tier of one model',
      {
        usageByModel: [{ provider: 'p', model: 'm', serviceTier: 'flex', counts: { inputTokens: 1, outputTokens: 1 } }],
      },
      '/run/usageByModel/0/serviceTier',
      'has no prices for this model',
    ],
    [
      'a part of the run that its models do not state',
      {
        counts: { inputTokens: 9, outputTokens: 1, cacheReadTokens: 8 },
        usageByModel: [{ provider: 'p', model: 'm', counts: { inputTokens: 9, outputTokens: 1 } }],
      },
      '/run/counts/cacheReadTokens',
      'belongs to no model of usageByModel in full',
    ],
  ])('The end of a run with %s names that part and says why', async (_, run, pointer, reason) => {
    expect(await warnings(run)).toEqual(part(pointer, reason))
  })

  it('A run whose parts all have a price gets no warning', async () => {
    expect(await warnings({ model: 'm', counts: { inputTokens: 9, cacheReadTokens: 8, outputTokens: 1 } })).toEqual([])
    const share = { provider: 'p', model: 'm', counts: { inputTokens: 9, cacheReadTokens: 8, outputTokens: 1 } }
    expect(await warnings({ usageByModel: [share, share] })).toEqual([])
    const cost = { amount: '1', currency: 'USD', source: 'provider' }
    const counts = { inputTokens: 9, outputTokens: 1 }
    const posted = { counts: { ...counts, cacheReadTokens: 8 }, usageByModel: [{ ...share, counts, cost }] }
    expect(await warnings(posted)).toEqual([])
  })

  it('Single calls in usageByModel are priced one by one', async () => {
    const call = (inputTokens: number) => ({
      provider: 'p',
      model: 'm',
      counts: { inputTokens, outputTokens: 0, modelCalls: 1 },
    })
    const { post } = recorder({ prices })
    expect(runOf(await post({ runId: 'r', usageByModel: [call(200_000), call(200_001)] })).cost?.amount).toBe(
      '0.600002',
    )
  })

  it('An open run and a model that is unknown get no such warning', async () => {
    const usage = { input_tokens: 9, output_tokens: 1, service_tier: 'priority' }
    expect(answerOf(await recorder({ prices }).post({ runId: 'r', model: 'm', usage })).warnings).toEqual([])
    expect(await warnings({ model: 'other', usage })).toMatchObject([{ code: 'unpriced', pointer: '/run' }])
  })

  it('An agent is told of its own report', async () => {
    const { post } = recorder({ prices })
    const run = { runId: 'r', status: 'completed', model: 'm', counts: { inputTokens: 9, imageInputTokens: 1 } }
    const { warnings: told } = answerOf(await post(run, { token: 's1' }))
    expect(told).toEqual(part('/run/counts/imageInputTokens', 'has no price'))
  })
})

describe('the service tier of a run', () => {
  const priced: PricedUsage[] = []
  const book: PriceBook = {
    price(usage) {
      priced.push(usage)
      return prices.price(usage)
    },
  }
  const ended = {
    runId: 'r',
    status: 'completed',
    model: 'm',
    counts: { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 1 },
  }

  it.each([
    [{ serviceTier: 'batch' }, 'batch', '0.5'],
    [{ serviceTier: 'BATCH' }, 'batch', '0.5'],
    [{ serviceTier: 'default' }, 'standard', '2'],
    [{ serviceTier: 'on_demand' }, 'standard', '2'],
    [{ usage: { input_tokens: 1_000_000, service_tier: 'batch' } }, 'batch', '0.5'],
    [{ usage: { input_tokens: 1_000_000, service_tier: 'standard', inference_geo: 'global' } }, 'standard', '2'],
    [{ usage: { input_tokens: 1_000_000, service_tier: 'standard', inference_geo: 'us' } }, 'us', undefined],
    [{ usage: { input_tokens: 1_000_000, service_tier: 'priority', speed: 'fast' } }, 'priority fast', undefined],
    [{ usage: { promptTokenCount: 1_000_000, trafficType: 'ON_DEMAND' } }, 'standard', '2'],
    [{ usage: { promptTokenCount: 1_000_000, trafficType: 'ON_DEMAND_FLEX' } }, 'flex', undefined],
    [{ usage: { promptTokenCount: 1_000_000, serviceTier: 'standard' } }, 'standard', '2'],
    [{ usage: { input_tokens: 1_000_000, service_tier: { odd: 1 } } }, 'other', undefined],
    [{ usage: { inputTokens: 1_000_000, raw: { service_tier: 'batch' } } }, 'batch', '0.5'],
    [{ usage: { input_tokens: 1_000_000, input_token_details: { priority: 1_000_000 } } }, 'priority', undefined],
    [{ usage: { input_tokens: 1_000_000, input_token_details: { flex: 400_000 } } }, 'mixed', undefined],
    [{ usage: { input_tokens: 1_000_000, service_tier: 'x'.repeat(40) } }, 'other', undefined],
    [{ usage: { input_tokens: 1_000_000, service_tier: null } }, undefined, '2'],
    [{}, undefined, '2'],
  ])('A run with %j is of the service tier %s and costs %s', async (more, serviceTier, amount) => {
    const run = runOf(await recorder({ prices: book }).post({ ...ended, ...more }))
    expect(run.serviceTier).toBe(serviceTier)
    expect(run.cost?.amount).toBe(amount)
    expect(priced.at(-1)?.serviceTier).toBe(serviceTier === 'standard' ? undefined : serviceTier)
  })

  it('A service tier that is sent on its own overrules that of the usage object, with a warning', async () => {
    const usage = { input_tokens: 1_000_000, service_tier: 'priority' }
    const { run, warnings: told } = answerOf(await recorder({ prices }).post({ ...ended, usage, serviceTier: 'batch' }))
    expect(run).toMatchObject({ serviceTier: 'batch', cost: { amount: '0.5' } })
    expect(told).toEqual([
      {
        code: 'usage_overruled',
        pointer: '/run/serviceTier',
        detail: 'differs from the usage object, and was taken instead',
      },
    ])
  })

  it('A service tier changes the cost when it comes later', async () => {
    const { post } = recorder({ prices })
    expect(runOf(await post({ ...ended, seq: 1 })).cost?.amount).toBe('2')
    expect(runOf(await post({ runId: 'r', seq: 2, serviceTier: 'batch' })).cost?.amount).toBe('0.5')
  })

  it('A service tier of an agent does not change the cost of what an application metered', async () => {
    const { post } = recorder({ prices })
    await post(ended)
    const told = answerOf(await post({ runId: 'r', serviceTier: 'batch' }, { token: 's1' }))
    expect(told.ignored).toEqual([{ field: 'serviceTier', reason: 'application_recorded' }])
    expect(runOf(await post({ runId: 'r' }))).toMatchObject({ cost: { amount: '2' } })
    expect(runOf(await post({ runId: 'r' }))).not.toHaveProperty('serviceTier')
  })

  it('A service tier of one model is its own, else that of the run', async () => {
    const counts = { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 1 }
    const usageByModel = [
      { provider: 'p', model: 'm', counts },
      { provider: 'p', model: 'm', serviceTier: 'Batch', counts },
    ]
    const { post } = recorder({ prices })
    expect(runOf(await post({ runId: 'a', usageByModel })).usageByModel?.map(({ cost }) => cost?.amount)).toEqual([
      '2',
      '0.5',
    ])
    expect(runOf(await post({ runId: 'b', serviceTier: 'batch', usageByModel })).cost?.amount).toBe('1')
  })
})

describe('an invalid answer of a price book', () => {
  it.each([
    [{ unpriced: 5, reason: 'x' }, 'unpriced'],
    [{ unpriced: 'a/b', reason: 'x' }, 'unpriced'],
    [{ unpriced: 'model' }, 'reason'],
    [{ unpriced: 'model', reason: '' }, 'reason'],
    [{ unpriced: 'model', reason: 'x'.repeat(201) }, 'reason'],
  ])('The answer %j of a price book is a fault of the host that names %s', async (answer, field) => {
    const { post, lines } = recorder({ prices: { price: () => answer as never } })
    expect(problemOf(await post({ runId: 'r', model: 'm', counts: { inputTokens: 1 } }))).toMatchObject({ status: 500 })
    expect(JSON.stringify(lines)).toContain(field)
  })
})
