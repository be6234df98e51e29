import { calcPrice, waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { genaiPrices, type PriceList } from '../../src/pricing/index.ts'
import { testOptions } from '../options/option-tests.ts'
import { ask, BAD_LIST_OPTIONS, BAD_PRICES, faultOf, MILLION } from './list-questions.ts'

const published = await waitForUpdate()
const list = genaiPrices(published, { version: 'genai-prices-0.1.8' })

interface GivenModel {
  readonly id?: string
  readonly match?: object
  readonly prices?: unknown
}

/** A list of one provider `p`, with models that match their id. */
function listOf(...models: readonly GivenModel[]): PriceList {
  return genaiPrices([provider('p', ...models)])
}

function provider(id: string, ...models: readonly GivenModel[]): object {
  return { id, models: models.map((model) => ({ id: 'm', match: { equals: model.id ?? 'm' }, ...model })) }
}

const priceOf = (prices: unknown, usage = {}) => ask(listOf({ prices }), { provider: 'p', ...usage })

testOptions(
  'sallyport/pricing genaiPrices',
  'PriceListOptions',
  (of: object) => genaiPrices([provider('openai')], of),
  {},
  BAD_LIST_OPTIONS,
)

describe('the published list of genai-prices', () => {
  it('The list is read as a whole, and says what it leaves out', () => {
    expect(list.models).toBe(1503)
    const whole = list.leftOut.filter(({ part }) => part === undefined)
    const parts = new Map<string, number>()
    for (const { part } of list.leftOut) if (part) parts.set(part, (parts.get(part) ?? 0) + 1)
    expect(Object.fromEntries(parts)).toEqual({
      web_searches_kcount: 54,
      storage_searches_kcount: 30,
      cache_audio_read_mtok: 10,
      cache_image_read_mtok: 7,
    })
    const reasons = new Map<string, number>()
    for (const { reason } of whole) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    expect(Object.fromEntries(reasons)).toMatchObject({
      'states no price': 163,
      'is priced by audio_hours': 8,
      'has prices that depend on more than a date': 4,
      'is priced by output_citation_mtok': 1,
      'is priced by output_video_mtok': 1,
    })
    expect(whole).toContainEqual({ entry: 'openai/whisper-1', reason: 'is priced by audio_hours' })
  })

  it('Every model of the list costs what the package calculates, unless it is left out', () => {
    const at = new Date('2026-11-21T08:00:00Z')
    const usage = { input_tokens: 1_000_000, output_tokens: 1_000_000 }
    const left = new Set(list.leftOut.filter(({ part }) => part === undefined).map(({ entry }) => entry))
    let compared = 0
    for (const { id, models } of published ?? []) {
      for (const { id: model } of models) {
        const theirs = calcPrice(usage, model, { providerId: id, timestamp: at })
        const ours = ask(list, { provider: id, model, at: at.getTime() })
        if (theirs === null || left.has(`${theirs.provider.id}/${theirs.model.id}`)) continue
        if (ours?.amount === undefined) {
          expect(theirs.model_price.output_mtok === undefined || theirs.model_price.input_mtok === undefined).toBe(true)
          continue
        }
        const perRequest = Number(theirs.model_price.requests_kcount ?? 0) / 1000
        expect([id, model, Math.abs(Number(ours.amount) - theirs.total_price) < 1e-9]).toEqual([id, model, true])
        expect(perRequest).toBeGreaterThanOrEqual(0)
        compared++
      }
    }
    expect(compared).toBe(1_399)
  })

  it.each([
    ['openai', 'gpt-4o-2024-08-06', '12.5'],
    ['openai.responses', 'gpt-4o', '12.5'],
    ['OpenAI', ' GPT-4o ', '12.5'],
    [undefined, 'gpt-4o', '12.5'],
    ['azure', 'gpt-4o', '12.5'],
    ['amazon-bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0', undefined],
    ['nobody', 'gpt-4o', undefined],
    ['openai', 'no-such-model', undefined],
  ])('A run of the provider %s and the model %s costs %s', (providerName, model, amount) => {
    const usage = { model, ...(providerName !== undefined && { provider: providerName }) }
    const price = ask(list, usage)
    if (amount === undefined) expect(price?.amount).not.toBe('12.5')
    else expect(price).toEqual({ amount, currency: 'USD', version: 'genai-prices-0.1.8' })
  })

  it('A provider of the host can have the name of one in the list', () => {
    const named = genaiPrices(published, { providers: { gateway: 'openai' } })
    expect(ask(named, { provider: 'gateway', model: 'gpt-4o' })).toMatchObject({
      amount: '12.5',
      version: 'genai-prices',
    })
  })
})

describe('a list of genai-prices', () => {
  it('The first model that matches counts, whatever is more specific', () => {
    const both = genaiPrices([
      provider(
        'p',
        { id: 'a', match: { starts_with: 'GPT' }, prices: { input_mtok: 1, output_mtok: 1 } },
        { id: 'b', match: { equals: 'gpt-5' }, prices: { input_mtok: 2, output_mtok: 2 } },
      ),
    ])
    expect(ask(both, { provider: 'p', model: 'gpt-5' })?.amount).toBe('2')
  })

  it.each([
    [{ equals: 'A-B' }, 'a-b', true],
    [{ ends_with: '-b' }, 'a-b', true],
    [{ contains: '-' }, 'a-b', true],
    [{ contains: '_' }, 'a-b', false],
    [{ regex: '^a-\\w$' }, 'a-b', true],
    [{ or: [{ equals: 'x' }, { equals: 'a-b' }] }, 'a-b', true],
    [{ and: [{ starts_with: 'a' }, { ends_with: 'c' }] }, 'a-b', false],
    [{ equals: 'a-2026-08-07' }, 'a-20260807', true],
  ])('Match logic %j of the model %s is %s', (match, model, isMatch) => {
    const one = listOf({ match, prices: { input_mtok: 1, output_mtok: 1 } })
    expect(ask(one, { provider: 'p', model }) !== undefined).toBe(isMatch)
  })

  it.each([
    [{ sounds_like: 'x' }],
    [{ regex: '(' }],
    [{ regex: '(a+)+$' }],
    [{ regex: 'a*b*c*' }],
    [{ regex: `^${'a?'.repeat(40)}${'a'.repeat(40)}$` }],
    [{ regex: `^${'(a|a)'.repeat(36)}$` }],
    [{ regex: `^${'a{0,9}'.repeat(20)}b$` }],
    [{ regex: 'x'.repeat(201) }],
    [{ equals: 5 }],
    [{ or: { equals: 'x' } }],
    [{ equals: 'x', contains: 'y' }],
    ['x'],
    [null],
  ])('Match logic %j stops the start and is named', (match) => {
    const error = faultOf(() => genaiPrices([{ id: 'p', models: [{ id: 'm', match, prices: {} }] }]))
    expect(error?.code).toBe('option_invalid')
    expect(error?.problems).toEqual([
      { field: 'data[0].models[0].match (m) (p)', detail: 'has match logic that is not understood' },
    ])
  })

  it.each([[undefined], [null], ['[]'], [{}], [[]]])('Data that is %j stops the start', (data) => {
    expect(faultOf(() => genaiPrices(data))?.problems).toEqual([
      { field: 'data', detail: 'must be a list of providers with their models' },
    ])
  })

  it('Providers without an id or models stop the start, all at once, with wrong options', () => {
    const error = faultOf(() => genaiPrices([{ id: 'p' }, null], { version: 'a b' }))
    expect(error?.problems.map(({ field }) => field)).toEqual(['version', 'data[0]', 'data[1]'])
  })

  it('Rates of all kinds have their names', () => {
    const prices = {
      input_mtok: 3,
      cache_read_mtok: 0.3,
      cache_write_mtok: 3.75,
      cache_write_1h_mtok: 6,
      output_mtok: 15,
      output_reasoning_mtok: 20,
      requests_kcount: 12,
    }
    const counts = {
      inputTokens: 1_000_000,
      cacheReadTokens: 200_000,
      cacheWriteTokens: 100_000,
      cacheWrite1hTokens: 40_000,
      outputTokens: 10_000,
      reasoningTokens: 4_000,
      modelCalls: 1,
    }
    expect(priceOf(prices, { counts })?.amount).toBe('2.807')
    const media = { input_mtok: 3, input_audio_mtok: 32, output_mtok: 15, output_audio_mtok: 64, output_image_mtok: 40 }
    const mediaCounts = {
      inputTokens: 1_000_000,
      audioInputTokens: 300_000,
      imageInputTokens: 200_000,
      outputTokens: 10_000,
      audioOutputTokens: 2_000,
      imageOutputTokens: 1_000,
    }
    // Images without a price of their own are input.
    expect(priceOf(media, { counts: mediaCounts })?.amount).toBe('11.973')
  })

  it('Tiers begin above their start, for all rates together', () => {
    const prices = {
      input_mtok: {
        base: 1,
        tiers: [
          { start: 200, price: 2 },
          { start: 100, price: 3 },
        ],
      },
      output_mtok: 5,
    }
    const at = (inputTokens: number) =>
      priceOf(prices, { counts: { inputTokens, outputTokens: 1, modelCalls: 1 } })?.amount
    expect([at(100), at(101), at(200), at(201)]).toEqual(['0.000105', '0.000308', '0.000605', '0.000407'])
  })

  it('Prices change at their start dates, and the last that holds counts', () => {
    const rate = (input_mtok: number) => ({ input_mtok, output_mtok: 0 })
    const prices = [
      { prices: rate(1) },
      { constraint: { start_date: '2026-03-01', type: 'start_date' }, prices: rate(2) },
      { constraint: { start_date: '2026-02-01' }, prices: rate(3) },
    ]
    const at = (day: string) => priceOf(prices, { at: Date.parse(day) })?.amount
    expect([at('2026-01-31'), at('2026-02-01'), at('2026-02-28'), at('2026-03-01')]).toEqual(['1', '3', '3', '3'])
  })

  it.each([
    [
      'the time of day',
      [{ prices: {} }, { constraint: { start_time: '00:30:00Z', end_time: '16:30:00Z' }, prices: {} }],
      'has prices that depend on more than a date',
    ],
    [
      'an invalid date',
      [{ constraint: { start_date: '2026-13-01' }, prices: {} }],
      'has prices that depend on more than a date',
    ],
    ['no price', {}, 'states no price'],
    ['no prices', undefined, 'states no price'],
    ['no condition', [], 'states no price'],
    ['seconds', { audio_hours: 1 }, 'is priced by audio_hours'],
    ['characters beside tokens', { input_mtok: 1, input_mchars: 1 }, 'is priced by input_mchars'],
    [
      'cached audio alone',
      { input_mtok: 1, cache_audio_read_mtok: 1 },
      'is priced by cache_audio_read_mtok, but not by input_audio_mtok',
    ],
    [
      'a tier without a start',
      { input_mtok: { base: 1, tiers: [{ price: 1 }] } },
      'has a tier whose start is not a whole number',
    ],
    [
      'a tier that starts at null',
      { input_mtok: { base: 1, tiers: [{ start: null, price: 2 }] } },
      'has a tier whose start is not a whole number',
    ],
    ['tiers that are no list', { input_mtok: { base: 1, tiers: 2 } }, 'has a tier whose start is not a whole number'],
    [
      '1,000 for a request',
      { input_mtok: 1, requests_kcount: 999_999.5 * 2 },
      'has a price that is no number from 0 to 999999: requests_kcount',
    ],
  ])('A model with %s is left out by its name, and has no cost', (_, prices, reason) => {
    const one = listOf({ prices })
    expect(one.leftOut).toEqual([{ entry: 'p/m', reason }])
    expect(one.models).toBe(0)
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it.each(BAD_PRICES)('A price that is %s is left out by its name, and has no cost', (_, bad) => {
    const reason = 'has a price that is no number from 0 to 999999: output_mtok'
    const one = listOf({ prices: { input_mtok: 1, output_mtok: bad } })
    expect(one.leftOut).toEqual([{ entry: 'p/m', reason }])
    expect(ask(one, { provider: 'p' })).toEqual({ unpriced: 'model', reason })
  })

  it('A model that is left out does not pass its runs to another', () => {
    const two = listOf(
      { id: 'whisper', match: { equals: 'gpt-whisper' }, prices: { audio_hours: 1 } },
      { id: 'gpt', match: { starts_with: 'gpt' }, prices: { input_mtok: 1, output_mtok: 1 } },
    )
    expect(ask(two, { provider: 'p', model: 'gpt-whisper' })).toMatchObject({ unpriced: 'model' })
    expect(ask(two, { provider: 'p', model: 'gpt-5' })?.amount).toBe('2')
  })

  it('Noise of floats does not reach an amount', () => {
    const noisy = { input_mtok: 0.1 + 0.2, output_mtok: 0 }
    expect(priceOf(noisy, { counts: MILLION })?.amount).toBe('0.3')
  })
})
