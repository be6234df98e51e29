import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { litellmPrices } from '../../src/pricing/index.ts'
import { testOptions } from '../options/option-tests.ts'
import { ask, BAD_LIST_OPTIONS, BAD_PRICES, faultOf, MILLION } from './list-questions.ts'

/** Models in the format of LiteLLM's `model_prices_and_context_window.json`, written for this test. */
const MODELS = {
  sample_spec: { input_cost_per_token: 0, litellm_provider: 'one of …', max_tokens: 'LEGACY parameter' },
  'acme/acme-large': {
    cache_creation_input_token_cost: 3.75e-6,
    cache_creation_input_token_cost_above_1hr: 6e-6,
    cache_creation_input_token_cost_above_1hr_above_200k_tokens: 1.2e-5,
    cache_creation_input_token_cost_above_200k_tokens: 7.5e-6,
    cache_read_input_token_cost: 3e-7,
    cache_read_input_token_cost_above_200k_tokens: 6e-7,
    input_cost_per_token: 3e-6,
    input_cost_per_token_above_200k_tokens: 6e-6,
    input_cost_per_token_batches: 1.5e-6,
    input_cost_per_token_priority: 4.5e-6,
    litellm_provider: 'acme',
    max_input_tokens: 1_000_000,
    max_tokens: 64_000,
    mode: 'chat',
    output_cost_per_token: 1.5e-5,
    output_cost_per_token_above_200k_tokens: 2.25e-5,
    output_cost_per_token_batches: 7.5e-6,
    output_cost_per_token_priority: 2.25e-5,
    search_context_cost_per_query: { search_context_size_high: 0.01 },
    supports_vision: true,
  },
  'acme-mini': {
    input_cost_per_audio_token: 1e-5,
    input_cost_per_image: 0,
    input_cost_per_token: 6e-8,
    litellm_provider: 'bedrock_converse',
    mode: 'chat',
    output_cost_per_audio_token: 2e-5,
    output_cost_per_reasoning_token: 5e-7,
    output_cost_per_token: 2.4e-7,
  },
  'acme-voice': { input_cost_per_second: 1e-4, litellm_provider: 'acme', mode: 'audio_transcription' },
  'acme-search': {
    input_cost_per_request: 0.005,
    input_cost_per_token: 1e-6,
    litellm_provider: 'acme',
    output_cost_per_token: 1e-6,
  },
}
const list = litellmPrices(MODELS, { version: 'litellm-2026-11-21' })
const acme = { provider: 'acme', model: 'acme-large' }

/** A list of one model `m` of the provider `p`. */
const listOf = (prices: object) => litellmPrices({ m: { litellm_provider: 'p', ...prices } })

testOptions(
  'sallyport/pricing litellmPrices',
  'PriceListOptions',
  (of: object) => litellmPrices(MODELS, of),
  {},
  BAD_LIST_OPTIONS,
)

describe('a list of LiteLLM', () => {
  it('A model has the prices of its provider, under its name with and without the provider', () => {
    const price = { amount: '0.0018', currency: 'USD', version: 'litellm-2026-11-21' }
    const counts = { inputTokens: 100, outputTokens: 100, modelCalls: 1 }
    expect(ask(list, { ...acme, counts })).toEqual(price)
    expect(ask(list, { provider: 'ACME', model: 'acme/Acme-Large', counts })).toEqual(price)
    expect(ask(list, { model: 'acme/acme-large', counts })).toEqual(price)
    expect(ask(list, { model: 'acme-large', counts })).toBeUndefined()
    expect(ask(list, { provider: 'other', model: 'acme-large', counts })).toBeUndefined()
    expect(ask(list, { model: 'sample_spec', counts })).toBeUndefined()
    expect(ask(list, { provider: 'acme.chat', model: 'acme-large', counts })).toEqual(price)
    expect(ask(list, { provider: 'bedrock_converse', model: 'acme-mini' })?.amount).toBe('0.3')
    // The whole name of a model does not stand for that of another seller.
    expect(ask(list, { provider: 'other', model: 'acme-mini' })).toBeUndefined()
  })

  it('Caches, tiers by the length of the prompt and float noise are exact', () => {
    const counts = {
      inputTokens: 200_000,
      cacheReadTokens: 100_000,
      cacheWriteTokens: 50_000,
      cacheWrite1hTokens: 20_000,
      outputTokens: 1_000,
      modelCalls: 1,
    }
    // 50,000 * 3 + 100,000 * 0.3 + 30,000 * 3.75 + 20,000 * 6 + 1,000 * 15
    expect(ask(list, { ...acme, counts })?.amount).toBe('0.4275')
    // 50,001 * 6 + 100,000 * 0.6 + 30,000 * 7.5 + 20,000 * 12 + 1,000 * 22.5
    expect(ask(list, { ...acme, counts: { ...counts, inputTokens: 200_001 } })?.amount).toBe('0.847506')
    const noisy = listOf({
      input_cost_per_token: Number('2.9999999999999997e-7'),
      output_cost_per_token: Number('6.000000000000001e-8'),
    })
    expect(ask(noisy, { provider: 'p' })?.amount).toBe('0.36')
  })

  it('Service tiers have the prices that are stated for them, and no others', () => {
    const counts = { inputTokens: 100_000, outputTokens: 100_000, modelCalls: 1 }
    const of = (serviceTier: string, more = {}) => ask(list, { ...acme, serviceTier, counts: { ...counts, ...more } })
    expect(of('batch')?.amount).toBe('0.9')
    expect(of('priority')?.amount).toBe('2.7')
    expect(of('flex')).toMatchObject({ unpriced: 'serviceTier' })
    expect(of('batch', { cacheReadTokens: 5 })).toMatchObject({ unpriced: 'cacheReadTokens' })
    expect(of('batch', { inputTokens: 200_001 })).toMatchObject({ unpriced: 'inputTokens' })
  })

  it('Audio, reasoning and requests have their prices', () => {
    const counts = {
      inputTokens: 100,
      audioInputTokens: 40,
      outputTokens: 100,
      audioOutputTokens: 30,
      reasoningTokens: 20,
      modelCalls: 2,
    }
    // 60 * 0.06 + 40 * 10 + 50 * 0.24 + 30 * 20 + 20 * 0.5
    expect(ask(list, { provider: 'bedrock', model: 'acme-mini', counts })?.amount).toBe('0.0010256')
    expect(ask(list, { provider: 'aws.bedrock', model: 'acme-mini', counts })?.amount).toBe('0.0010256')
    expect(ask(list, { provider: 'acme', model: 'acme-search', counts: { ...MILLION, modelCalls: 2 } })?.amount).toBe(
      '2.01',
    )
  })

  it('The list says what it leaves out', () => {
    expect(list.models).toBe(3)
    expect(list.leftOut).toEqual([
      {
        entry: 'acme/acme-large',
        part: 'search_context_cost_per_query',
        reason: 'is not counted in tokens or calls',
      },
      { entry: 'acme-voice', reason: 'is priced by input_cost_per_second' },
    ])
    expect(ask(list, { provider: 'acme', model: 'acme-voice' })).toEqual({
      unpriced: 'model',
      reason: 'is priced by input_cost_per_second',
    })
  })

  it.each([
    ['no price', {}, 'states no price'],
    ['characters', { input_cost_per_character: 1e-6 }, 'is priced by input_cost_per_character'],
    [
      'images beside tokens',
      { input_cost_per_token: 1e-6, output_cost_per_image: 0.04 },
      'is priced by output_cost_per_image',
    ],
    [
      'tiers of another form',
      { input_cost_per_token: 1e-6, tiered_pricing: [{ range: [0, 5] }] },
      'is priced by tiered_pricing',
    ],
    [
      'two prices for one kind',
      { input_cost_per_token: 1e-6, cache_read_input_token_cost: 1e-7, input_cost_per_token_cache_hit: 2e-7 },
      'has two prices for cacheRead',
    ],
    [
      'cached audio alone',
      { input_cost_per_token: 1e-6, cache_read_input_audio_token_cost: 1e-7 },
      'is priced by cache_read_input_audio_token_cost',
    ],
    [
      '1,000 for a request',
      { input_cost_per_token: 1e-6, input_cost_per_request: 1_000 },
      'has a price that is no number from 0 to 999999: input_cost_per_request',
    ],
    ['prices of a service tier alone', { input_cost_per_token_flex: 1e-6 }, 'states no price'],
  ])('A model with %s is left out by its name, and has no cost', (_, prices, reason) => {
    const one = listOf(prices)
    expect(one.leftOut).toEqual([{ entry: 'm', reason }])
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it.each(BAD_PRICES)('A price that is %s is left out by its name, and has no cost', (_, bad) => {
    const reason = 'has a price that is no number from 0 to 999999: output_cost_per_token'
    const one = listOf({ input_cost_per_token: 1e-6, output_cost_per_token: bad })
    expect(one.leftOut).toEqual([{ entry: 'm', reason }])
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it('A service tier without a price of a request has no cost if the standard tier has one', () => {
    const one = listOf({ input_cost_per_token: 1e-6, input_cost_per_request: 1, input_cost_per_token_flex: 1e-7 })
    expect(ask(one, { provider: 'p', serviceTier: 'flex' })).toMatchObject({ unpriced: 'model' })
  })

  it('Names of two interfaces of one provider have no cost if their prices differ', () => {
    const two = litellmPrices({
      'cohere/m': { litellm_provider: 'cohere', input_cost_per_token: 1e-6, output_cost_per_token: 0 },
      m: { litellm_provider: 'cohere_chat', input_cost_per_token: 2e-6, output_cost_per_token: 0 },
    })
    expect(two.leftOut).toEqual([{ entry: 'cohere/m', reason: 'is in the list twice, with different prices' }])
    expect(ask(two, { provider: 'cohere', model: 'm' })).toMatchObject({ unpriced: 'model' })
    expect(ask(two, { provider: 'cohere', model: 'cohere/m' })?.amount).toBe('1')
    expect(ask(two, { model: 'm' })?.amount).toBe('2')
  })

  it('An entry without a provider is left out by its name', () => {
    const one = litellmPrices({ m: { input_cost_per_token: 1 }, n: 'text' })
    expect(one.leftOut.map(({ entry, reason }) => `${entry} ${reason}`)).toEqual([
      'm has no litellm_provider',
      'n has no litellm_provider',
    ])
    expect(ask(one, {})).toMatchObject({ unpriced: 'model' })
  })

  it.each([[undefined], [null], [[]], ['{}'], [{}]])('Data that is %j stops the start', (json) => {
    expect(faultOf(() => litellmPrices(json))?.problems).toEqual([
      { field: 'json', detail: 'must be an object of models' },
    ])
  })
})

const BY_REGION = 'has prices that depend on the region, and none for this one'
const WHOLE = process.env.SALLYPORT_LITELLM
const reason =
  WHOLE && existsSync(WHOLE)
    ? undefined
    : "SALLYPORT_LITELLM names no copy of LiteLLM's model_prices_and_context_window.json"

describe.skipIf(reason)(`the whole list of LiteLLM${reason ? ` (skipped: ${reason})` : ''}`, () => {
  const json: Record<string, Readonly<Record<string, unknown>>> = WHOLE ? JSON.parse(readFileSync(WHOLE, 'utf8')) : {}
  const whole = WHOLE ? litellmPrices(json) : list

  it('The whole list has prices for most of its models, and a reason for each of the others', () => {
    expect(whole.models).toBeGreaterThan(whole.leftOut.filter(({ part }) => part === undefined).length)
    for (const { entry, reason: why } of whole.leftOut) expect([entry, why.length > 0]).toEqual([entry, true])
  })

  it('Every model of Bedrock in the whole list has its price in every region, unless the list has others', () => {
    const bedrock = new Set(
      Object.keys(json).filter((name) => /^bedrock(?:_converse)?$/.test(String(json[name]?.litellm_provider))),
    )
    let found = 0
    for (const model of bedrock) {
      if (!/^(?!(?:us|eu|apac|jp|au|us-gov|global)\.)[a-z0-9]+\.[^/]+$/.test(model)) continue
      const priceIn = (name: string) => ask(whole, { provider: 'bedrock', model: name })
      const base = priceIn(model)
      if (base?.amount === undefined) continue
      const others = [...bedrock].filter(
        (one) => one.endsWith(model) && /^(?:bedrock\/(?:[a-z]+-)+\d\/|[a-z-]+\.)$/.test(one.slice(0, -model.length)),
      )
      const pricesDiffer = others.some((one) => !one.startsWith('global.') && priceIn(one)?.amount !== base.amount)
      for (const place of [
        'us.',
        'eu.',
        'apac.',
        'jp.',
        'au.',
        'ca.',
        'us-gov.',
        'global.',
        'us-east-1/',
        'sa-east-1/',
      ]) {
        const name = place + model
        const own = priceIn(name)
        const isOwn = bedrock.has(name) || bedrock.has(`bedrock/${name}`)
        if (!isOwn && own?.amount === undefined)
          expect([place, own?.reason, pricesDiffer]).toEqual([place, BY_REGION, true])
        if (!isOwn && own?.amount !== undefined)
          expect([name, own.amount, pricesDiffer]).toEqual([name, base.amount, false])
        const profile = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${name}`
        if (place.endsWith('.')) expect([profile, priceIn(profile)]).toEqual([profile, own])
        if (own?.amount !== undefined) found++
      }
    }
    expect(found).toBeGreaterThan(500)
  })

  it('Every model of the whole list with two prices costs their sum', () => {
    const leftOut = new Set(whole.leftOut.map(({ entry }) => entry))
    let compared = 0
    for (const [name, { litellm_provider: provider, ...model }] of Object.entries(json)) {
      const prices = Object.keys(model).filter((key) => /cost|pricing/.test(key))
      const isTwice = leftOut.has(`${String(provider).replace(/_converse$/, '')}/${name}`)
      if (isTwice || leftOut.has(name) || prices.toSorted().join() !== 'input_cost_per_token,output_cost_per_token')
        continue
      const sum = (Number(model.input_cost_per_token) + Number(model.output_cost_per_token)) * 1_000_000
      const found = ask(whole, { provider: String(provider), model: name })
      expect([name, Number(found?.amount)]).toEqual([name, Number(sum.toPrecision(12))])
      compared++
    }
    expect(compared).toBeGreaterThan(100)
  })
})
