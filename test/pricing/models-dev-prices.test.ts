import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { modelsDevPrices } from '../../src/pricing/index.ts'
import { testOptions } from '../options/option-tests.ts'
import { ask, BAD_LIST_OPTIONS, BAD_PRICES, faultOf } from './list-questions.ts'

/** A provider in the format of https://models.dev/api.json, written for this test. */
const JSON_OF_TWO = {
  acme: {
    id: 'acme',
    env: ['ACME_KEY'],
    npm: '@ai-sdk/openai-compatible',
    name: 'Acme',
    doc: 'https://acme.test/models',
    models: {
      'acme-large': {
        id: 'acme-large',
        name: 'Acme Large',
        attachment: true,
        reasoning: true,
        modalities: { input: ['text', 'image'], output: ['text'] },
        cost: {
          input: 1.25,
          output: 10,
          cache_read: 0.125,
          cache_write: 1.5,
          tiers: [
            { input: 2.5, output: 15, cache_read: 0.25, cache_write: 3, tier: { type: 'context', size: 272_000 } },
          ],
          context_over_200k: { input: 9, output: 9 },
        },
        limit: { context: 400_000, output: 128_000 },
      },
      'acme-voice': {
        id: 'acme-voice',
        cost: { input: 1, output: 2, input_audio: 32, output_audio: 64, reasoning: 3 },
      },
      'acme-old': { id: 'acme-old', cost: { input: 2, output: 4, context_over_200k: { input: 4, output: 8 } } },
      'acme-free': { id: 'acme-free', cost: { input: 0, output: 0 } },
      'acme-secret': { id: 'acme-secret' },
    },
  },
  'amazon-bedrock': { id: 'amazon-bedrock', models: { 'acme-large': { cost: { input: 2, output: 11 } } } },
}
const list = modelsDevPrices(JSON_OF_TWO, { version: 'models.dev-2026-11-21' })

/** A list of one model `p/m`. */
const listOf = (cost: unknown) => modelsDevPrices({ p: { models: { m: { cost } } } })

testOptions(
  'sallyport/pricing modelsDevPrices',
  'PriceListOptions',
  (of: object) => modelsDevPrices(JSON_OF_TWO, of),
  {},
  BAD_LIST_OPTIONS,
)

describe('a list of models.dev', () => {
  it('A model has the prices of its provider', () => {
    const counts = { inputTokens: 200_000, cacheReadTokens: 100_000, cacheWriteTokens: 50_000, outputTokens: 1_000 }
    expect(ask(list, { provider: 'acme', model: 'acme-large', counts })).toEqual({
      amount: '0.16',
      currency: 'USD',
      version: 'models.dev-2026-11-21',
    })
    expect(ask(list, { provider: 'ACME', model: 'Acme-Free' })?.amount).toBe('0')
    expect(ask(list, { provider: 'acme', model: 'acme-medium' })).toBeUndefined()
    expect(ask(list, { provider: 'other', model: 'acme-large' })).toBeUndefined()
  })

  it('Tiers by the length of the prompt replace the older price above 200,000 tokens', () => {
    const at = (model: string, inputTokens: number) =>
      ask(list, { provider: 'acme', model, counts: { inputTokens, outputTokens: 0, modelCalls: 1 } })?.amount
    expect([at('acme-large', 272_000), at('acme-large', 272_001)]).toEqual(['0.34', '0.6800025'])
    expect([at('acme-old', 200_000), at('acme-old', 200_001)]).toEqual(['0.4', '0.800004'])
  })

  it('Audio and reasoning have their prices, and kinds that are not stated have none', () => {
    const counts = {
      inputTokens: 100,
      audioInputTokens: 40,
      outputTokens: 100,
      audioOutputTokens: 30,
      reasoningTokens: 20,
    }
    const voice = { provider: 'acme', model: 'acme-voice' }
    // 60 * 1 + 40 * 32 + 50 * 2 + 30 * 64 + 20 * 3
    expect(ask(list, { ...voice, counts })?.amount).toBe('0.00342')
    expect(ask(list, { ...voice, counts: { inputTokens: 5, cacheReadTokens: 1, outputTokens: 1 } })).toEqual({
      unpriced: 'cacheReadTokens',
      reason: 'has no price',
    })
    expect(ask(list, { ...voice, counts: { inputTokens: 5, imageInputTokens: 1, outputTokens: 1 } })).toMatchObject({
      unpriced: 'imageInputTokens',
    })
    expect(ask(list, { ...voice, serviceTier: 'batch' })).toMatchObject({ unpriced: 'serviceTier' })
  })

  it('A run without a provider has no cost, because providers differ', () => {
    expect(ask(list, { model: 'acme-large' })).toEqual({
      unpriced: 'provider',
      reason: 'is absent, and every provider of this model has prices of its own',
    })
    expect(ask(list, { model: 'nobody-has-it' })).toBeUndefined()
  })

  it('A provider has other names in telemetry, and those that the host gives', () => {
    const counts = { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 1 }
    expect(ask(list, { provider: 'aws.bedrock', model: 'acme-large', counts })?.amount).toBe('2')
    const named = modelsDevPrices(JSON_OF_TWO, { providers: { gateway: 'acme' } })
    expect(ask(named, { provider: 'gateway', model: 'acme-old', counts: { ...counts, inputTokens: 1_000 } })).toEqual({
      amount: '0.002',
      currency: 'USD',
      version: 'models.dev',
    })
  })

  it('The list says what it leaves out', () => {
    expect(list.models).toBe(5)
    expect(list.leftOut).toEqual([{ entry: 'acme/acme-secret', reason: 'states no price' }])
  })

  it.each([
    ['no price', {}, 'states no price'],
    ['a price of something else', { input: 1, per_image: 2 }, 'is priced by per_image'],
    [
      'a tier of something else',
      { input: 1, tiers: [{ input: 1, tier: { type: 'day', size: 1 } }] },
      'has a tier that is not by the length of the prompt',
    ],
    [
      'a tier of no length',
      { input: 1, tiers: [{ input: 1, tier: { type: 'context', size: -1 } }] },
      'has a tier that is not by the length of the prompt',
    ],
    [
      'two tiers of one length',
      { input: 1, tiers: [1, 2].map((input) => ({ input, tier: { type: 'context', size: 5 } })) },
      'has two tiers of one length',
    ],
    ['a tier that is no object', { input: 1, tiers: [5] }, 'has a price that is no number from 0 to 999999: tiers'],
    [
      'a price above 200,000 that is no object',
      { input: 1, context_over_200k: 2 },
      'has a price that is no number from 0 to 999999: context_over_200k',
    ],
  ])('A model with %s is left out by its name, and has no cost', (_, cost, reason) => {
    const one = listOf(cost)
    expect(one.leftOut).toEqual([{ entry: 'p/m', reason }])
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it.each(BAD_PRICES)('A price that is %s is left out by its name, and has no cost', (_, bad) => {
    const reason = 'has a price that is no number from 0 to 999999: input'
    const one = listOf({ input: bad, output: 1 })
    expect(one.leftOut).toEqual([{ entry: 'p/m', reason }])
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it('Two models whose names differ by case have no cost if their prices differ', () => {
    const models = { m: { cost: { input: 1, output: 1 } }, M: { cost: { input: 2, output: 1 } } }
    const two = modelsDevPrices({ p: { models } })
    expect(two.leftOut).toEqual([{ entry: 'p/M', reason: 'is in the list twice, with different prices' }])
    expect(ask(two, { provider: 'p' })).toMatchObject({ unpriced: 'model' })
    const same = modelsDevPrices({ p: { models: { ...models, M: models.m } } })
    expect(ask(same, { provider: 'p' })?.amount).toBe('2')
  })

  it.each([[undefined], [null], [[]], ['{}'], [{}]])('Data that is %j stops the start', (json) => {
    expect(faultOf(() => modelsDevPrices(json))?.problems).toEqual([
      { field: 'json', detail: 'must be an object of providers' },
    ])
  })

  it('A provider without models stops the start and is named, as are wrong options', () => {
    const error = faultOf(() => modelsDevPrices({ p: { models: [] }, q: null }, { providers: { a: 5 as never } }))
    expect(error?.code).toBe('option_invalid')
    expect(error?.problems.map(({ field }) => field)).toEqual(['providers.a', 'json.p', 'json.q'])
  })
})

const WHOLE = process.env.SALLYPORT_MODELS_DEV
const reason =
  WHOLE && existsSync(WHOLE) ? undefined : 'SALLYPORT_MODELS_DEV names no copy of https://models.dev/api.json'

type WholeList = Record<string, { models: Record<string, { cost?: { input: number; output: number } }> }>

describe.skipIf(reason)(`the whole list of models.dev${reason ? ` (skipped: ${reason})` : ''}`, () => {
  const json: WholeList = WHOLE ? JSON.parse(readFileSync(WHOLE, 'utf8')) : {}
  const whole = WHOLE ? modelsDevPrices(json) : list

  it('The whole list has prices for most of its models, and a reason for each of the others', () => {
    expect(whole.models).toBeGreaterThan(whole.leftOut.length)
    for (const { entry, reason: why } of whole.leftOut) expect([entry, why.length > 0]).toEqual([entry, true])
  })

  it('Every model of the whole list costs what its prices of input and output say', () => {
    const short = { inputTokens: 1_000, outputTokens: 1_000, modelCalls: 1 }
    const leftOut = new Set(whole.leftOut.map(({ entry }) => entry))
    let compared = 0
    for (const [provider, { models }] of Object.entries(json))
      for (const [model, { cost }] of Object.entries(models)) {
        if (!cost || leftOut.has(`${provider}/${model}`)) continue
        const found = ask(whole, { provider, model, counts: short })
        const amount = Number(((cost.input + cost.output) / 1_000).toPrecision(12))
        expect([provider, model, Number(found?.amount)]).toEqual([provider, model, amount])
        compared++
      }
    expect(compared).toBeGreaterThan(1_000)
  })
})
