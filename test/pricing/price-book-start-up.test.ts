import { describe, expect, it } from 'vitest'
import { isSallyportError, type SallyportError } from '../../src/errors.ts'
import { type PriceBookOptions, priceBook } from '../../src/pricing/index.ts'

function fault(options: unknown): SallyportError | undefined {
  try {
    priceBook(options as PriceBookOptions)
  } catch (error) {
    if (isSallyportError(error)) return error
    throw error
  }
  return undefined
}

/** The fields with problems, of options with one valid entry by default. */
function fieldsOf(options: object): (string | undefined)[] {
  return (
    fault({ version: 'v', prices: [{ model: 'm', input: 1, output: 1 }], ...options })?.problems.map(
      ({ field }) => field,
    ) ?? []
  )
}

function fieldsOfEntry(entry: object): (string | undefined)[] {
  return fieldsOf({ prices: [{ model: 'm', input: 1, output: 1, ...entry }] })
}

function fieldsOfEntries(...entries: object[]): (string | undefined)[] {
  return fieldsOf({ prices: entries.map((entry) => ({ model: 'm', input: 1, output: 1, ...entry })) })
}

describe('priceBook at start-up', () => {
  it.each<[string, object, string[]]>([
    ['no version', { version: undefined }, ['version']],
    ['an empty version', { version: '' }, ['version']],
    ['a version of 101 characters', { version: 'v'.repeat(101) }, ['version']],
    ['a version with a space', { version: 'v 1' }, ['version']],
    ['a version of another script', { version: 'v²' }, ['version']],
    ['a version with a line end', { version: 'v\n' }, ['version']],
    ['a version that is a number', { version: 1 }, ['version']],
    ['a currency in lower case', { currency: 'usd' }, ['currency']],
    ['a currency that is a sign', { currency: '$' }, ['currency']],
    ['a currency that is null', { currency: null }, ['currency']],
    ['another number of tokens', { per: 100 }, ['per']],
    ['a text for a number of tokens', { per: '1000' }, ['per']],
    ['no prices', { prices: undefined }, ['prices']],
    ['an empty list', { prices: [] }, ['prices']],
    ['prices by name', { prices: { m: { input: 1, output: 1 } } }, ['prices']],
    ['a field that is not known', { vesion: 'v' }, ['vesion']],
    ['a field without a name of its own', JSON.parse('{ "__proto__": 1 }'), ['__proto__']],
    ['an entry that is null', { prices: [null] }, ['prices[0]']],
  ])('priceBook finds %s', (_, options, fields) => {
    expect(fieldsOf(options)).toEqual(fields)
  })

  it.each<[string, object, string[]]>([
    ['no model', { model: undefined }, ['model']],
    ['an empty model', { model: '' }, ['model']],
    ['a regular expression', { model: /gpt/ }, ['model']],
    ['two stars', { model: 'a*b*' }, ['model']],
    ['an empty provider', { provider: '' }, ['provider']],
    ['a provider that is a list', { provider: ['openai'] }, ['provider']],
    ['a day that does not exist', { from: '2026-02-30' }, ['from']],
    ['a leap day of a common year', { until: '2027-02-29' }, ['until']],
    ['a month that does not exist', { from: '2026-13-01' }, ['from']],
    ['a time without an offset', { from: '2026-01-01T00:00:00' }, ['from']],
    ['a date with slashes', { until: '01/02/2026' }, ['until']],
    ['a date that is a number', { until: 1767225600000 }, ['until']],
    ['a date that is a Date', { until: new Date(0) }, ['until']],
    ['dates the wrong way round', { from: '2026-01-02', until: '2026-01-01' }, ['until']],
    ['an empty span', { from: '2026-01-01', until: '2026-01-01T01:00:00+01:00' }, ['until']],
    ['an invalid currency', { currency: 'US' }, ['currency']],
    ['a version that is empty', { version: '' }, ['version']],
    ['an empty service tier', { serviceTier: '' }, ['serviceTier']],
    ['a price of a thousand for a request', { request: '1000' }, ['request']],
    ['a price below 0 for a request', { request: -1 }, ['request']],
    ['a price below 0 for audio', { audioInput: -1 }, ['audioInput']],
    ['an empty reason', { input: undefined, output: undefined, unpriced: '' }, ['unpriced']],
    ['a reason of 201 characters', { input: undefined, output: undefined, unpriced: 'x'.repeat(201) }, ['unpriced']],
    ['a price below 0', { input: -1 }, ['input']],
    ['a price that is no decimal', { output: '$10' }, ['output']],
    ['a price with an exponent', { output: '1e-6' }, ['output']],
    ['a price with a comma', { output: '1,25' }, ['output']],
    ['a price that is not finite', { cacheRead: Number.POSITIVE_INFINITY }, ['cacheRead']],
    ['a price that is not a number', { cacheWrite: Number.NaN }, ['cacheWrite']],
    ['a price that is null', { reasoning: null }, ['reasoning']],
    ['a price of a million', { input: '1000000' }, ['input']],
    ['a price of 16 decimals', { input: '0.0000000000000001' }, ['input']],
    ['a field that is not known', { cachedInput: 1 }, ['cachedInput']],
    ['tiers that are no list', { tiers: {} }, ['tiers']],
  ])('priceBook finds %s in an entry', (_, entry, fields) => {
    expect(fieldsOfEntry(entry)).toEqual(fields.map((field) => `prices[0].${field}`))
  })

  it.each<[string, object[], string[]]>([
    ['no threshold', [{}], ['[0].aboveInputTokens']],
    ['a threshold below 0', [{ aboveInputTokens: -1 }], ['[0].aboveInputTokens']],
    ['a fraction', [{ aboveInputTokens: 0.5 }], ['[0].aboveInputTokens']],
    ['a text', [{ aboveInputTokens: '5' }], ['[0].aboveInputTokens']],
    ['tiers that are equal', [{ aboveInputTokens: 5 }, { aboveInputTokens: 5 }], ['[1].aboveInputTokens']],
    ['tiers that descend', [{ aboveInputTokens: 5 }, { aboveInputTokens: 4 }], ['[1].aboveInputTokens']],
    ['a bad price', [{ aboveInputTokens: 5, input: 'x' }], ['[0].input']],
    ['a field that is not known', [{ aboveInputTokens: 5, above: 1 }], ['[0].above']],
    ['no price where the model has one', [{ aboveInputTokens: 5, cacheRead: undefined }], ['[0].cacheRead']],
  ])('priceBook finds %s in tiers', (_, tiers, fields) => {
    const full = tiers.map((tier) => ({ input: 1, output: 1, cacheRead: 1, ...tier }))
    expect(fieldsOfEntry({ cacheRead: 1, tiers: full })).toEqual(fields.map((field) => `prices[0].tiers${field}`))
  })

  it.each<[string, object[]]>([
    ['the same model', [{}, {}]],
    ['the same pattern', [{ model: 'gpt*' }, { model: 'gpt*' }]],
    ['patterns of one length that meet', [{ model: 'ab*' }, { model: '*bc' }]],
    ['patterns that begin alike and end alike', [{ model: 'ab*cd' }, { model: 'abb*d' }]],
    ['the same model of one provider', [{ provider: 'p' }, { provider: 'p' }]],
    ['times that overlap', [{ until: '2026-02-01' }, { from: '2026-01-31' }]],
    ['a time within another', [{}, { from: '2026-01-31', until: '2026-02-01' }]],
  ])('priceBook refuses two equally specific entries: %s', (_, entries) => {
    expect(fieldsOfEntries(...entries)).toEqual(['prices[1].model'])
    expect(fieldsOfEntries({ model: 'another' }, ...entries.reverse())).toEqual(['prices[2].model'])
  })

  it.each<[string, object[]]>([
    ['another model', [{}, { model: 'n' }]],
    ['a pattern beside a name', [{ model: 'gpt-5' }, { model: 'gpt-*' }]],
    ['patterns that give more and less', [{ model: 'gpt*' }, { model: 'gpt-*' }]],
    ['patterns of one length that do not meet', [{ model: 'ab*' }, { model: 'ac*' }]],
    ['patterns that begin alike and end otherwise', [{ model: 'a*b' }, { model: 'a*c' }]],
    ['another provider', [{ provider: 'p' }, { provider: 'q' }]],
    ['a provider beside none', [{ provider: 'p' }, {}]],
    ['one time after another', [{ until: '2026-02-01' }, { from: '2026-02-01' }]],
  ])('priceBook accepts two entries if one is more specific or no run matches both: %s', (_, entries) => {
    expect(fieldsOfEntries(...entries)).toEqual([])
    expect(fieldsOfEntries(...entries.reverse())).toEqual([])
  })

  it('priceBook accepts all valid options', () => {
    expect(
      fieldsOf({
        version: '~'.repeat(100),
        currency: 'XTS',
        per: 1,
        prices: [
          {
            model: '*',
            provider: 'p',
            from: '2024-02-29',
            until: '2026-01-01T00:00:00.123456789-23:59',
            currency: 'EUR',
            version: '!',
            input: '999999.999999999999999',
            output: 0,
            cacheRead: '0.000000000000001',
            cacheWrite: 1.25,
            reasoning: '000.50',
            tiers: [
              { aboveInputTokens: 0, input: 1, output: 1, cacheRead: 1, cacheWrite: 1, reasoning: 1 },
              { aboveInputTokens: 1, input: 1, output: 1, cacheRead: 1, cacheWrite: 1, reasoning: 1 },
            ],
          },
        ],
      }),
    ).toEqual([])
  })

  it('priceBook throws all problems at once, each with its field', () => {
    const error = fault({ version: '', prices: [{ model: 'm', input: -1, output: 1, tiers: [{}] }, {}] })
    expect(error?.code).toBe('option_invalid')
    expect(error?.problems.map(({ field }) => field)).toEqual([
      'version',
      'prices[0].input',
      'prices[0].tiers[0].aboveInputTokens',
      'prices[0].tiers[0].input',
      'prices[0].tiers[0].output',
      'prices[1].model',
      'prices[1]',
    ])
    expect(error?.message).toContain('field "prices[0].input": is a number; must be a decimal, such as "1.25"')
  })

  it('priceBook refuses an entry without a price, and one with prices and a reason for none', () => {
    const none = { input: undefined, output: undefined }
    expect(fieldsOfEntry(none)).toEqual(['prices[0]'])
    expect(fieldsOfEntry({ unpriced: 'is not sold' })).toEqual(['prices[0]'])
    expect(fieldsOfEntry({ ...none, unpriced: 'is not sold' })).toEqual([])
    expect(fieldsOfEntry({ ...none, output: 0 })).toEqual([])
    expect(fieldsOf({ otherwise: {} })).toEqual(['otherwise'])
  })

  it('priceBook accepts two entries of one model for two service tiers, and refuses two for one', () => {
    expect(fieldsOfEntries({}, { serviceTier: 'batch' })).toEqual([])
    expect(fieldsOfEntries({ serviceTier: 'Standard' }, {})).toEqual(['prices[1].model'])
    expect(fieldsOfEntries({ serviceTier: 'Batch' }, { serviceTier: 'batch' })).toEqual(['prices[1].model'])
    expect(fieldsOfEntries({ model: 'ab*' }, { model: '*bc', serviceTier: 'batch' })).toEqual(['prices[1].model'])
  })

  it('priceBook names the known options beside an unknown one', () => {
    const error = fault({ version: 'v', prices: [{ model: 'm', input: 1, output: 1, cache_read: 1 }] })
    expect(error?.message).toContain('cacheRead')
  })

  it.each([[undefined], [null], ['text'], [7], [[]]])('priceBook refuses the options %j', (options) => {
    expect(fault(options)?.problems).toEqual([{ detail: expect.stringContaining('must be an object of options') }])
  })
})
