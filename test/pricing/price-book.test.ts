import { describe, expect, it } from 'vitest'
import type { RunCounts } from '../../src/model/run.ts'
import type { Price, PricedUsage, UnpricedPart } from '../../src/ports/price-book.ts'
import { type ModelPrices, type PriceBookOptions, priceBook } from '../../src/pricing/index.ts'
import { fc, runs } from '../support/properties.ts'

const MILLION: RunCounts = { inputTokens: 1_000_000, outputTokens: 0 }
const AT = Date.parse('2026-11-21T08:00:00.000Z')

function priced(
  prices: readonly ModelPrices[],
  usage: Partial<PricedUsage>,
  book: Partial<PriceBookOptions> = {},
): Partial<Price & UnpricedPart> | undefined {
  return priceBook({ version: 'v1', prices, ...book }).price({
    tenant: 't',
    model: 'm',
    counts: MILLION,
    at: AT,
    ...usage,
  })
}

function amount(prices: Partial<ModelPrices>, counts: RunCounts, per: 1 | 1_000 | 1_000_000 = 1_000_000) {
  return priced([{ model: 'm', input: 3, output: 15, ...prices }], { counts }, { per })?.amount
}

function versionOf(price: Partial<Price & UnpricedPart> | undefined): string | undefined {
  return price?.version
}

/** The part without a price, and the reason. */
function unpriced(prices: Partial<ModelPrices>, counts: RunCounts): readonly (string | undefined)[] {
  const price = priced([{ model: 'm', input: 3, output: 15, ...prices }], { counts })
  expect(price).toEqual({ unpriced: expect.any(String), reason: expect.any(String) })
  return [price?.unpriced, price?.reason]
}

describe('a price book', () => {
  it('A price book gives the amount, its currency and the version', () => {
    const counts = { inputTokens: 1234, outputTokens: 56 }
    const prices = [{ model: 'm', input: '1.25', output: 10 }]
    expect(priced(prices, { counts })).toEqual({ amount: '0.0021025', currency: 'USD', version: 'v1' })
    expect(priced(prices, { counts }, { currency: 'EUR' })).toMatchObject({ currency: 'EUR' })
    expect(priced([{ ...prices[0], currency: 'CNY', version: 'v2' } as ModelPrices], { counts })).toEqual({
      amount: '0.0021025',
      currency: 'CNY',
      version: 'v2',
    })
  })

  it('A price book charges every kind of tokens at its own price', () => {
    const counts = {
      inputTokens: 1_000_000,
      cacheReadTokens: 200_000,
      cacheWriteTokens: 100_000,
      cacheWrite1hTokens: 40_000,
      outputTokens: 10_000,
      reasoningTokens: 4_000,
    }
    const prices = { cacheRead: '0.3', cacheWrite: '3.75', cacheWrite1h: 6 }
    // 700,000 * 3 + 200,000 * 0.3 + 60,000 * 3.75 + 40,000 * 6 + 10,000 * 15
    expect(amount(prices, counts)).toBe('2.775')
    expect(amount({ ...prices, reasoning: 60 }, counts)).toBe('2.955')
    expect(amount({ cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 }, counts)).toBe('2.19')
    const media = {
      inputTokens: 1_000_000,
      audioInputTokens: 300_000,
      imageInputTokens: 200_000,
      outputTokens: 10_000,
      audioOutputTokens: 2_000,
      imageOutputTokens: 1_000,
      reasoningTokens: 500,
    }
    const mediaPrices = { audioInput: 32, imageInput: 5, audioOutput: 64, imageOutput: 40 }
    // 500,000 * 3 + 300,000 * 32 + 200,000 * 5 + 7,000 * 15 + 2,000 * 64 + 1,000 * 40
    expect(amount(mediaPrices, media)).toBe('12.373')
    // 500 * (20 - 15) more.
    expect(amount({ ...mediaPrices, reasoning: 20 }, media)).toBe('12.3755')
  })

  it('A price book charges every call, whatever number of tokens the other prices are for', () => {
    const counts = { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 3 }
    expect(amount({ request: '0.012' }, counts)).toBe('3.036')
    expect(amount({ request: '0.012' }, counts, 1)).toBe('3000000.036')
    expect(amount({ request: 0 }, { ...MILLION })).toBe('3')
    expect(unpriced({ request: '0.012' }, MILLION)).toEqual(['modelCalls', 'is absent, and every call has a price'])
  })

  it('A price book accepts prices per 1, 1,000 or 1,000,000 tokens', () => {
    const counts = { inputTokens: 7, outputTokens: 11 }
    expect(amount({ input: 5e-8, output: '0.0000004' }, counts, 1)).toBe('0.00000475')
    expect(amount({ input: '0.5', output: 2 }, counts, 1_000)).toBe('0.0255')
    expect(amount({ input: '0.5', output: 2 }, counts)).toBe('0.0000255')
  })

  it('A price book has no price for an absent count, unless its tokens are free', () => {
    expect(amount({}, {})).toBeUndefined()
    expect(amount({}, { totalTokens: 5 })).toBeUndefined()
    expect(amount({}, { inputTokens: 5 })).toBeUndefined()
    expect(amount({}, { outputTokens: 5 })).toBeUndefined()
    expect(amount({}, { inputTokens: 0, outputTokens: 0 })).toBe('0')
    expect(amount({ output: 0 }, { inputTokens: 1_000_000 })).toBe('3')
    expect(amount({ output: 0, reasoning: 1 }, { inputTokens: 1_000_000 })).toBeUndefined()
    expect(amount({ input: 0, cacheRead: 0 }, { outputTokens: 1_000_000, cacheReadTokens: 7 })).toBe('15')
    expect(amount({ input: 0, cacheRead: 1 }, { outputTokens: 1_000_000 })).toBeUndefined()
    expect(amount({ input: 0, cacheWrite: 1 }, { outputTokens: 1_000_000 })).toBeUndefined()
  })

  it('A price book takes an absent count as the sum of its parts only if all of them are free', () => {
    const free = { input: 0, cacheRead: 0, cacheWrite: 0 }
    const counts = { cacheReadTokens: 5, cacheWriteTokens: 3, outputTokens: 1_000_000 }
    expect(amount(free, counts)).toBe('15')
    expect(amount({ ...free, input: 3 }, counts)).toBeUndefined()
    expect(amount({ ...free, cacheRead: 3 }, counts)).toBeUndefined()
    expect(amount({ ...free, cacheWrite: 3 }, counts)).toBeUndefined()
    const reasoned = { inputTokens: 1_000_000, reasoningTokens: 5 }
    expect(amount({ output: 0, reasoning: 0 }, reasoned)).toBe('3')
    expect(amount({ output: 15, reasoning: 0 }, reasoned)).toBeUndefined()
    expect(amount({ output: 0, reasoning: 15 }, reasoned)).toBeUndefined()
  })

  it('A price book has no price for parts greater than their total, nor for invalid counts', () => {
    const counts = { inputTokens: 10, outputTokens: 10 }
    const cache = { cacheRead: 3, cacheWrite: 3, cacheWrite1h: 3 }
    expect(amount(cache, { ...counts, cacheReadTokens: 6, cacheWriteTokens: 4, reasoningTokens: 10 })).toBe('0.00018')
    const less = [
      [{ cacheReadTokens: 11 }, 'inputTokens'],
      [{ cacheReadTokens: 6, cacheWriteTokens: 5 }, 'inputTokens'],
      [{ cacheReadTokens: 6, cacheWrite1hTokens: 5 }, 'inputTokens'],
      [{ audioInputTokens: 6, imageInputTokens: 5 }, 'inputTokens'],
      [{ reasoningTokens: 11 }, 'outputTokens'],
      [{ audioOutputTokens: 6, imageOutputTokens: 5 }, 'outputTokens'],
      [{ audioOutputTokens: 6, reasoningTokens: 5 }, 'outputTokens'],
    ] as const
    const all = { ...cache, audioInput: 1, imageInput: 1, audioOutput: 1, imageOutput: 1, reasoning: 1 }
    for (const [parts, name] of less) {
      expect(unpriced(all, { ...counts, ...parts })).toEqual([name, 'is less than its parts'])
    }
    expect(unpriced(all, { ...counts, cacheWriteTokens: 1, cacheWrite1hTokens: 2 })).toEqual([
      'cacheWriteTokens',
      'is less than its part',
    ])
    for (const invalid of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      for (const name of ['inputTokens', 'cacheWrite1hTokens', 'audioOutputTokens', 'modelCalls'])
        expect(unpriced(all, { ...counts, [name]: invalid })).toEqual([name, 'is not a whole number of 0 or more'])
  })

  it.each([
    ['cacheReadTokens', { inputTokens: 5, cacheReadTokens: 1, outputTokens: 0 }],
    ['cacheWriteTokens', { inputTokens: 5, cacheWriteTokens: 1, outputTokens: 0 }],
    ['cacheWrite1hTokens', { inputTokens: 5, cacheWriteTokens: 1, cacheWrite1hTokens: 1, outputTokens: 0 }],
    ['audioInputTokens', { inputTokens: 5, audioInputTokens: 1, outputTokens: 0 }],
    ['imageInputTokens', { inputTokens: 5, imageInputTokens: 1, outputTokens: 0 }],
    ['audioOutputTokens', { inputTokens: 5, audioOutputTokens: 1, outputTokens: 5 }],
    ['imageOutputTokens', { inputTokens: 5, imageOutputTokens: 1, outputTokens: 5 }],
  ])(
    'A price book without a price for %s has no price for a run that used them, and has one without',
    (name, counts) => {
      expect(unpriced({}, counts)).toEqual([name, 'has no price'])
      expect(amount({}, { ...counts, cacheWriteTokens: 0, [name]: 0, cacheWrite1hTokens: 0 })).toBeDefined()
    },
  )

  it.each(['billedSearches', 'billedSeconds', 'billedCharacters'])('A price book has no price for %s', (name) => {
    expect(unpriced({}, { ...MILLION, [name]: 1 })).toEqual([name, 'is of a unit that has no price'])
    expect(amount({}, { ...MILLION, [name]: 0 })).toBe('3')
  })

  it('A price book without a price for output is for models without output', () => {
    expect(priced([{ model: 'm', input: 3 }], { counts: { inputTokens: 1_000_000 } })?.amount).toBe('3')
    expect(priced([{ model: 'm', input: 3 }], { counts: MILLION })?.amount).toBe('3')
    expect(priced([{ model: 'm', input: 3 }], { counts: { ...MILLION, outputTokens: 1 } })).toEqual({
      unpriced: 'outputTokens',
      reason: 'has no price',
    })
  })

  it('A price book has no price for audio and cached tokens together, unless audio costs what other input does', () => {
    const counts = { inputTokens: 10, cacheReadTokens: 4, audioInputTokens: 8, outputTokens: 0 }
    expect(unpriced({ cacheRead: 1, audioInput: 6 }, counts)).toEqual([
      'audioInputTokens',
      'has a price of its own, and it is unknown how many were cached',
    ])
    expect(amount({ cacheRead: 1, audioInput: 3 }, counts)).toBe('0.000022')
  })

  it('A price book has no price for a model that it says has none', () => {
    expect(priced([{ model: 'm', unpriced: 'is priced by the second' }], {})).toEqual({
      unpriced: 'model',
      reason: 'is priced by the second',
    })
  })

  it('A price book asks another for the models that it does not have', () => {
    const otherwise = priceBook({ version: 'list', prices: [{ model: '*', input: 1, output: 1 }] })
    const prices = [{ model: 'm', input: 3 }]
    expect(priced(prices, { model: 'n' }, { otherwise })).toMatchObject({ amount: '1', version: 'list' })
    expect(priced(prices, {}, { otherwise })).toMatchObject({ amount: '3', version: 'v1' })
    // A model that it has is never priced by another.
    expect(priced(prices, { counts: { outputTokens: 1, inputTokens: 0 } }, { otherwise })).toMatchObject({
      unpriced: 'outputTokens',
    })
  })
})

describe('a service tier', () => {
  const prices = [
    { model: 'gpt*', serviceTier: 'flex', input: 9, output: 9 },
    { model: 'gpt-5', input: 3, output: 15 },
    { model: 'gpt-5', serviceTier: 'Batch', input: '1.5', output: '7.5' },
  ]

  it('A service tier has prices of its own, and the standard tier is that of runs without one', () => {
    expect(priced(prices, { model: 'gpt-5' })?.amount).toBe('3')
    expect(priced(prices, { model: 'gpt-5', serviceTier: 'standard' })?.amount).toBe('3')
    expect(priced(prices, { model: 'gpt-5', serviceTier: 'batch' })?.amount).toBe('1.5')
  })

  it('A service tier without prices of the most specific entry has none, even if a broader entry has them', () => {
    const none = { unpriced: 'serviceTier', reason: 'has no prices for this model' }
    expect(priced(prices, { model: 'gpt-5', serviceTier: 'priority' })).toEqual(none)
    expect(priced(prices, { model: 'gpt-5', serviceTier: 'flex' })).toEqual(none)
    expect(priced(prices, { model: 'gpt-4', serviceTier: 'flex' })?.amount).toBe('9')
    expect(priced(prices, { model: 'gpt-4' })).toEqual(none)
  })
})

describe('the entry that a price book chooses', () => {
  const named = (version: string, entry: Partial<ModelPrices>): ModelPrices => ({
    model: 'm',
    input: 1,
    output: 1,
    version,
    ...entry,
  })
  const found = (prices: readonly ModelPrices[], usage: Partial<PricedUsage>) => {
    const forwards = priced(prices, usage)?.version
    expect(priced([...prices].reverse(), usage)?.version).toBe(forwards)
    return forwards
  }

  it.each([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5-mini', false],
    ['gpt-5', 'GPT-5', false],
    ['gpt-5*', 'gpt-5', true],
    ['gpt-5*', 'gpt-5-mini', true],
    ['gpt-5*', 'my-gpt-5', false],
    ['*-mini', 'gpt-5-mini', true],
    ['*-mini', 'gpt-5-mini-2', false],
    ['gpt-*-mini', 'gpt-5-mini', true],
    ['gpt-*-mini', 'gpt--mini', true],
    ['gpt-*-mini', 'gpt-mini', false],
    ['aba*aba', 'aba', false],
    ['aba*aba', 'ababa', false],
    ['aba*aba', 'abaaba', true],
    ['*', 'anything', true],
    ['gpt.5', 'gpt-5', false],
    ['constructor', 'toString', false],
    ['*__', '__proto__', true],
  ])('A price book entry for %s applies to the model %s: %s', (pattern, model, fits) => {
    expect(found([named('it', { model: pattern })], { model })).toBe(fits ? 'it' : undefined)
  })

  it('A price book prefers a whole name, then more characters, then a named provider', () => {
    const prices = [
      named('any', { model: '*' }),
      named('any-openai', { model: '*', provider: 'openai' }),
      named('short', { model: 'gpt*' }),
      named('long', { model: 'gpt-5*' }),
      named('longer', { model: 'g*-5-mini' }),
      named('whole', { model: 'gpt-5' }),
      named('whole-openai', { model: 'gpt-5', provider: 'openai' }),
    ]
    expect(found(prices, { model: 'o3' })).toBe('any')
    expect(found(prices, { model: 'o3', provider: 'openai' })).toBe('any-openai')
    expect(found(prices, { model: 'o3', provider: 'azure' })).toBe('any')
    expect(found(prices, { model: 'gpt-4', provider: 'openai' })).toBe('short')
    expect(found(prices, { model: 'gpt-5-nano' })).toBe('long')
    expect(found(prices, { model: 'gpt-5-mini' })).toBe('longer')
    expect(found(prices, { model: 'gpt-5' })).toBe('whole')
    expect(found(prices, { model: 'gpt-5', provider: 'azure' })).toBe('whole')
    expect(found(prices, { model: 'gpt-5', provider: 'openai' })).toBe('whole-openai')
  })

  it('A price book uses no entry of another provider', () => {
    const prices = [named('azure', { provider: 'azure' })]
    expect(found(prices, { provider: 'azure' })).toBe('azure')
    expect(found(prices, { provider: 'openai' })).toBeUndefined()
    expect(found(prices, {})).toBeUndefined()
  })

  it('A price book uses an entry from its start, inclusive, to its end, exclusive', () => {
    const prices = [
      named('first', { until: '2026-01-01' }),
      named('second', { from: '2026-01-01', until: '2026-07-01T02:00:00+02:00' }),
      named('third', { from: '2026-07-01T00:00:00Z', until: '2026-08-01T00:00:00.5Z' }),
      named('any', { model: '*' }),
    ]
    const at = (instant: string) => found(prices, { at: Date.parse(instant) })
    expect(at('1999-01-01T00:00:00Z')).toBe('first')
    expect(at('2025-12-31T23:59:59.999Z')).toBe('first')
    expect(at('2026-01-01T00:00:00Z')).toBe('second')
    expect(at('2026-06-30T23:59:59.999Z')).toBe('second')
    expect(at('2026-07-01T00:00:00Z')).toBe('third')
    expect(at('2026-08-01T00:00:00.499Z')).toBe('third')
    expect(at('2026-08-01T00:00:00.500Z')).toBe('any')
  })

  it('A price book finds an entry after any number of other names and confuses no similar names', () => {
    const reported: [string, string | undefined][] = [
      ['c', 'a:b'],
      ['b:c', 'a'],
      ['a:b:c', undefined],
      ['c', 'ab'],
      ['bc', 'a'],
      ['c', '1:a'],
      ['ac', undefined],
      [':c', undefined],
      ['c', 'undefined'],
      ['c', undefined],
    ]
    const prices = reported.map(([model, provider], index) =>
      named(String(index), { model, ...(provider && { provider }) }),
    )
    const book = priceBook({ version: 'v', prices })
    const version = (model: string, provider?: string) =>
      versionOf(book.price({ tenant: 't', model, counts: MILLION, at: AT, ...(provider && { provider }) }))
    const answers = new Set<string>()
    for (let other = 0; other < 2_500; other++)
      answers.add([version(`x${other}`), ...reported.map(([model, provider]) => version(model, provider))].join())
    expect([...answers]).toEqual([',0,1,2,3,4,5,6,7,8,9'])
  })

  it('A later change of the options does not change the price book', () => {
    const prices = [named('v', {})]
    const book = priceBook({ version: 'v', prices })
    Object.assign(prices[0] as object, { input: 7, model: 'other' })
    prices.length = 0
    expect(book.price({ tenant: 't', model: 'm', counts: MILLION, at: AT })).toMatchObject({ amount: '1' })
  })
})

describe('a tier', () => {
  const tiered: Partial<ModelPrices> = {
    input: '1.25',
    output: 10,
    cacheRead: '0.125',
    tiers: [
      { aboveInputTokens: 200_000, input: '2.5', output: 15, cacheRead: '0.25' },
      { aboveInputTokens: 500_000, input: 4, output: 20, cacheRead: '0.4' },
    ],
  }

  it('A tier holds for the whole of a call with a longer prompt, cached input included', () => {
    const one = { modelCalls: 1 }
    expect(amount(tiered, { ...one, inputTokens: 200_000, outputTokens: 1_000 })).toBe('0.26')
    expect(amount(tiered, { ...one, inputTokens: 200_001, outputTokens: 1_000 })).toBe('0.5150025')
    const cached = { inputTokens: 200_001, cacheReadTokens: 200_001, outputTokens: 0 }
    expect(amount(tiered, { ...one, ...cached })).toBe('0.05000025')
    expect(amount(tiered, { ...one, inputTokens: 500_000, outputTokens: 0 })).toBe('1.25')
    expect(amount(tiered, { ...one, inputTokens: 500_001, outputTokens: 0 })).toBe('2.000004')
  })

  it('A tier is known for one call, and for any number of calls that are together no longer than the first', () => {
    const counts = { inputTokens: 200_000, outputTokens: 0 }
    for (const modelCalls of [undefined, 0, 1, 2, Number.MAX_SAFE_INTEGER])
      expect(amount(tiered, { ...counts, ...(modelCalls !== undefined && { modelCalls }) })).toBe('0.25')
    expect(amount(tiered, { inputTokens: 600_000, outputTokens: 0, modelCalls: 1 })).toBe('2.4')
  })

  it('A tier of several calls, or of an unknown number of calls, is unknown', () => {
    const counts = { inputTokens: 200_001, outputTokens: 0 }
    const several = 'is not 1: prices depend on the prompt of each call, and the tokens of all calls are one sum'
    expect(unpriced(tiered, counts)).toEqual(['modelCalls', `is absent, and ${several}`])
    for (const modelCalls of [0, 2, 1_000])
      expect(unpriced(tiered, { ...counts, modelCalls })).toEqual(['modelCalls', several])
  })
})

/** A decimal in units of 10^-24, an integer for every possible price. */
function exactly(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(24, '0'))
}

const price = fc
  .tuple(
    fc.oneof(fc.nat(100), fc.nat(999_999)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\d{1,3}$/), fc.stringMatching(/^\d{15}$/)),
  )
  .map(([whole, fraction]) => (fraction === '' ? String(whole) : `${whole}.${fraction}`))
const count = fc.oneof(fc.nat(5_000), fc.nat(2 ** 31 - 1), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER))
/** Totals and their parts, which may exceed the total. */
const counts = fc
  .tuple(count, count, fc.double({ min: 0, max: 0.6, noNaN: true }), fc.double({ min: 0, max: 0.6, noNaN: true }))
  .map(([inputTokens, outputTokens, share, other]) => ({
    inputTokens,
    cacheReadTokens: Math.floor(inputTokens * share),
    cacheWriteTokens: Math.floor(inputTokens * other),
    outputTokens,
    reasoningTokens: Math.floor(outputTokens * other),
  }))

describe('an amount', () => {
  it('An amount is exact and canonical for any prices and counts', () => {
    fc.assert(
      fc.property(
        fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price }),
        fc.record({ reasoning: price }, { requiredKeys: [] }),
        counts,
        fc.constantFrom(1 as const, 1_000 as const, 1_000_000 as const),
        (required, optional, reported, per) => {
          const given = amount({ ...required, ...optional }, reported, per)
          const plain =
            BigInt(reported.inputTokens) - BigInt(reported.cacheReadTokens) - BigInt(reported.cacheWriteTokens)
          if (plain < 0n) {
            expect(given).toBeUndefined()
            return
          }
          const sum =
            plain * exactly(required.input) +
            BigInt(reported.cacheReadTokens) * exactly(required.cacheRead) +
            BigInt(reported.cacheWriteTokens) * exactly(required.cacheWrite) +
            BigInt(reported.outputTokens - reported.reasoningTokens) * exactly(required.output) +
            BigInt(reported.reasoningTokens) * exactly(optional.reasoning ?? required.output)
          expect(exactly(given ?? '') * BigInt(per)).toBe(sum)
          expect(given).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
          expect(given?.replace('.', '').length).toBeLessThanOrEqual(40)
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('An amount is exact at its maximum and minimum', () => {
    const most = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER }
    const dearest = '999999.999999999999999'
    expect(amount({ input: dearest, output: dearest }, most, 1)).toBe('18014398509481981999981.985601490518018')
    expect(amount({ input: dearest, output: dearest }, most)).toBe('18014398509481981.999981985601490518018')
    expect(amount({ input: '0.000000000000001', output: 0 }, { inputTokens: 1 })).toBe('0.000000000000000000001')
  })

  const MAX = Number.MAX_SAFE_INTEGER
  const rates = { input: 3, cacheRead: 1, cacheWrite: 2, audioInput: 5, output: 7, reasoning: 11, audioOutput: 13 }
  it.each<[string, RunCounts, string | string[]]>([
    ['a part that is the whole', { inputTokens: MAX, cacheReadTokens: MAX, outputTokens: 0 }, '9007199254740991'],
    ['a part and one token more', { inputTokens: MAX, cacheReadTokens: MAX - 1, outputTokens: 0 }, '9007199254740993'],
    [
      'two parts that are the whole',
      { inputTokens: MAX, cacheReadTokens: MAX - 1, cacheWriteTokens: 1, outputTokens: 0 },
      '9007199254740992',
    ],
    [
      'two parts of one token more',
      { inputTokens: MAX, cacheReadTokens: MAX, cacheWriteTokens: 1, outputTokens: 0 },
      ['inputTokens', 'is less than its parts'],
    ],
    [
      'two parts whose sum rounds',
      { inputTokens: MAX, cacheReadTokens: MAX, cacheWriteTokens: 2, outputTokens: 0 },
      ['inputTokens', 'is less than its parts'],
    ],
    [
      'two parts of twice the whole',
      { inputTokens: MAX, cacheReadTokens: MAX, cacheWriteTokens: MAX, outputTokens: 0 },
      ['inputTokens', 'is less than its parts'],
    ],
    [
      'parts of output',
      { inputTokens: 0, outputTokens: MAX, reasoningTokens: MAX - 2, audioOutputTokens: 1 },
      '99079191802150899',
    ],
    ['both sides', { inputTokens: MAX, outputTokens: MAX }, '90071992547409910'],
    [
      'one token too many',
      { inputTokens: MAX + 1, outputTokens: 0 },
      ['inputTokens', 'is not a whole number of 0 or more'],
    ],
  ])('An amount is exact at the greatest count, or there is none: %s', (_, counts, expected) => {
    const given = priced([{ model: 'm', ...rates }], { counts }, { per: 1 })
    expect(given?.amount ?? [given?.unpriced, given?.reason]).toEqual(expected)
  })

  it('The amount of a sum is the sum of the amounts', () => {
    fc.assert(
      fc.property(price, price, fc.nat(2 ** 40), fc.nat(2 ** 40), (input, output, a, b) => {
        const of = (inputTokens: number) => exactly(amount({ input, output }, { inputTokens, outputTokens: 0 }) ?? '')
        expect(of(a + b)).toBe(of(a) + of(b))
      }),
    )
  })
})
