import { waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import {
  genaiPrices,
  litellmPrices,
  modelsDevPrices,
  type PriceBookOptions,
  type PriceListOptions,
  priceBook,
} from '../../src/pricing/index.ts'
import { ask, faultOf, PROTOTYPE_NAMES } from './list-questions.ts'

/** The price of a million tokens of input, by provider and model. */
type Prices = Readonly<Record<string, Readonly<Record<string, number>>>>

const PRICES: Prices = {
  bedrock: {
    'anthropic.one': 3,
    'anthropic.by-region': 4,
    'us.anthropic.by-region': 4.4,
    'us-east-2/anthropic.by-region': 4.8,
    'global.anthropic.by-region': 4,
    'anthropic.alike': 5,
    'us.anthropic.alike': 5,
    'global.anthropic.alike': 4.5,
    'meta.one': 6,
    'meta.routed': 6.5,
    'converse/meta.routed': 6.6,
  },
  gemini: { 'gemini-one': 7, 'learn-one': 7.5 },
  vertex_ai: { 'gemini-one': 7, 'claude-one': 8 },
  azure: { 'gpt-5': 9 },
  openai: { 'gpt-5': 10 },
  anthropic: { 'claude-one': 11, 'anthropic.one': 12 },
  gateway: { 'anthropic.one': 13, 'gemini-one': 14 },
}

/** Ids of models.dev. */
const IDS: ReadonlyMap<string, string> = new Map([
  ['bedrock', 'amazon-bedrock'],
  ['gemini', 'google'],
  ['vertex_ai', 'google-vertex'],
])

/** Every reader of a list, each with the same prices in the format of its list. */
const LISTS = {
  litellmPrices: (prices: Prices, options?: PriceListOptions) =>
    litellmPrices(
      Object.fromEntries(
        rows(prices).map(([provider, model, input]) => [
          `${provider}/${model}`,
          { litellm_provider: provider, input_cost_per_token: input / 1e6, output_cost_per_token: 0 },
        ]),
      ),
      options,
    ),
  modelsDevPrices: (prices: Prices, options?: PriceListOptions) =>
    modelsDevPrices(
      byProvider(prices, (provider, models) => [
        IDS.get(provider) ?? provider,
        { models: Object.fromEntries(models.map(([model, input]) => [model, { cost: { input, output: 0 } }])) },
      ]),
      options,
    ),
  genaiPrices: (prices: Prices, options?: PriceListOptions) =>
    genaiPrices(
      Object.values(
        byProvider(prices, (provider, models) => [
          provider,
          {
            id: provider,
            model_match: { contains: provider === 'anthropic' ? 'anthropic' : 'no-model' },
            models: models.map(([model, input]) => ({
              id: model,
              match: { equals: model },
              prices: { input_mtok: input, output_mtok: 0 },
            })),
          },
        ]),
      ),
      options,
    ),
} as const

function rows(prices: Prices): [provider: string, model: string, input: number][] {
  return Object.entries(prices).flatMap(([provider, models]) =>
    Object.entries(models).map(([model, input]): [string, string, number] => [provider, model, input]),
  )
}

function byProvider(
  prices: Prices,
  convert: (provider: string, models: [string, number][]) => [string, object],
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(prices).map(([provider, models]) => convert(provider, Object.entries(models))),
  )
}

/** The host's own list, without entries for any provider. */
function ownPrices(prices: Prices, more: Partial<PriceBookOptions> = {}) {
  const own = rows(prices).map(([provider, model, input]) => ({ provider, model, input, output: 0 }))
  return priceBook({ version: 'own', prices: own, ...more })
}

const lists = Object.entries(LISTS).map(([name, make]) => [name, make(PRICES)] as const)
const all = [...lists, ['priceBook', ownPrices(PRICES)] as const]

const PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile'
const BY_REGION = { unpriced: 'model', reason: 'has prices that depend on the region, and none for this one' }

describe.each(all)('a name of a model that %s looks up', (_, list) => {
  it.each([
    ['us.anthropic.one', 3],
    ['eu.anthropic.one', 3],
    ['apac.anthropic.one', 3],
    ['jp.anthropic.one', 3],
    ['au.anthropic.one', 3],
    ['ca.anthropic.one', 3],
    ['us-gov.anthropic.one', 3],
    ['global.anthropic.one', 3],
    ['bedrock/anthropic.one', 3],
    ['converse/anthropic.one', 3],
    ['bedrock/converse/us.anthropic.one', 3],
    ['bedrock/invoke/anthropic.one', 3],
    ['bedrock/us-east-2/anthropic.one', 3],
    ['us-gov-west-1/anthropic.one', 3],
    [`${PROFILE}/us.anthropic.one`, 3],
    [`bedrock/converse/${PROFILE}/us.anthropic.one`, 3],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.one', 3],
    ['arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.one', 3],
  ])('The name %s of Bedrock is for the entry of the model', (model, price) => {
    expect(ask(list, { provider: 'bedrock', model })?.amount).toBe(String(price))
  })

  it.each([
    ['anthropic.by-region', 4],
    ['us.anthropic.by-region', 4.4],
    ['bedrock/us.anthropic.by-region', 4.4],
    [`${PROFILE}/us.anthropic.by-region`, 4.4],
    [`${PROFILE}/global.anthropic.by-region`, 4],
    ['bedrock/us-east-2/anthropic.by-region', 4.8],
    ['arn:aws:bedrock:us-east-2::foundation-model/anthropic.by-region', 4.8],
    ['anthropic.alike', 5],
    ['global.anthropic.alike', 4.5],
    ['eu.anthropic.alike', 5],
    ['bedrock/eu-west-1/anthropic.alike', 5],
    ['meta.routed', 6.5],
    ['converse/meta.routed', 6.6],
  ])('The entry that is closest to the name is before the others: %s', (model, price) => {
    expect(ask(list, { provider: 'bedrock', model })?.amount).toBe(String(price))
  })

  it.each([
    ['eu.anthropic.by-region'],
    ['bedrock/us-east-1/anthropic.by-region'],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.by-region'],
  ])('A region without an entry has no price if the prices of others differ: %s', (model) => {
    expect(ask(list, { provider: 'bedrock', model })).toEqual(BY_REGION)
  })

  it.each([
    ['gemini', 'models/gemini-one', 7],
    ['gemini', 'models/learn-one', 7.5],
    ['vertex_ai', 'publishers/google/models/gemini-one', 7],
    ['vertex_ai', 'projects/p/locations/us-central1/publishers/google/models/gemini-one', 7],
    ['vertex_ai', 'publishers/anthropic/models/claude-one', 8],
    ['vertex_ai', 'projects/p/locations/global/publishers/anthropic/models/claude-one', 8],
  ])('The name of %s in the form %s is for the model in it', (provider, model, price) => {
    expect(ask(list, { provider, model })?.amount).toBe(String(price))
  })

  it.each([
    ['a gateway with a region', 'gateway', 'us.anthropic.one'],
    ['a gateway with an ARN', 'gateway', `${PROFILE}/us.anthropic.one`],
    ['a gateway with the route of another', 'gateway', 'bedrock/anthropic.one'],
    ['another provider of the model', 'anthropic', 'us.anthropic.one'],
    ['a gateway with a path of Google', 'gateway', 'models/gemini-one'],
    ['a gateway with a path of Vertex', 'gateway', 'publishers/google/models/gemini-one'],
    [
      'a model of another maker on Vertex, by location',
      'vertex_ai',
      'projects/p/locations/us-east5/publishers/anthropic/models/claude-one',
    ],
    ['an endpoint of Vertex', 'vertex_ai', 'projects/p/locations/us-central1/endpoints/gemini-one'],
    ['a tuned model', 'gemini', 'tunedModels/gemini-one'],
    ['a path within a path', 'gemini', 'models/gemini-one/gemini-one'],
    ['a geography that is none', 'bedrock', 'mars.anthropic.one'],
    ['two geographies', 'bedrock', 'us.eu.anthropic.one'],
    ['no maker', 'bedrock', 'us.one'],
    [
      'an application inference profile',
      'bedrock',
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123',
    ],
    [
      'a profile with the name of a model',
      'bedrock',
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/anthropic.one',
    ],
    ['a custom model', 'bedrock', 'arn:aws:bedrock:us-east-1:123456789012:custom-model/anthropic.one/abc123'],
    ['provisioned throughput', 'bedrock', 'arn:aws:bedrock:us-east-1:123456789012:provisioned-model/anthropic.one'],
    ['a commitment', 'bedrock', 'bedrock/us-east-1/1-month-commitment/anthropic.one'],
    [
      'an ARN of another service',
      'bedrock',
      'arn:aws:sagemaker:us-east-1:123456789012:inference-profile/anthropic.one',
    ],
  ])('A name is not shortened for %s', (_name, provider, model) => {
    expect(ask(list, { provider, model })).toBeUndefined()
  })

  it.each(PROTOTYPE_NAMES)(
    'The name %s of a member of every object is the name of no model and no provider',
    (name) => {
      expect(ask(list, { provider: name, model: 'gpt-5' })).toBeUndefined()
      expect(ask(list, { provider: 'bedrock', model: name })).toBeUndefined()
      expect(ask(list, { provider: 'bedrock', model: `us.${name}.${name}` })).toBeUndefined()
      expect(ask(list, { model: name })).toBeUndefined()
    },
  )
})

describe.each(lists)('a name without a provider that %s looks up', (name, list) => {
  it.each([
    ['us.anthropic.one', '3'],
    ['us.meta.one', '6'],
    ['anthropic.one', '3'],
    [`${PROFILE}/us.anthropic.by-region`, '4.4'],
    ['bedrock/us-east-2/anthropic.by-region', '4.8'],
    ['models/gemini-one', '7'],
    ['publishers/google/models/gemini-one', '7'],
    ['publishers/anthropic/models/claude-one', '8'],
  ])('The form of the name %s shows its seller', (model, price) => {
    expect(ask(list, { model })?.amount).toBe(price)
  })

  it.each([
    ['models/learn-one'],
    ['meta.one'],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/anthropic.one'],
  ])('The name %s shows no seller', (model) => {
    const price = ask(list, { model })
    expect(price?.amount).toBeUndefined()
    expect(price?.unpriced).toBe(name === 'modelsDevPrices' && model === 'meta.one' ? 'provider' : undefined)
  })
})

describe("the host's own prices", () => {
  it('An entry for the name as it is sent, also a pattern, is before one for the model that it names', () => {
    const prices = [
      { model: 'anthropic.one', input: 3, output: 0 },
      { model: 'us.*', input: 4, output: 0 },
    ]
    const book = priceBook({ version: 'v', prices })
    expect(ask(book, { provider: 'bedrock', model: `us.anthropic.one` })?.amount).toBe('4')
    expect(ask(book, { provider: 'bedrock', model: `${PROFILE}/us.anthropic.one` })?.amount).toBe('4')
    expect(ask(book, { provider: 'bedrock', model: `eu.anthropic.one` })).toEqual(BY_REGION)
    const any = priceBook({ version: 'v', prices: [...prices, { model: '*', input: 5, output: 0 }] })
    expect(ask(any, { provider: 'bedrock', model: `eu.anthropic.one` })?.amount).toBe('5')
  })

  it('A region that they do not price is asked of the next book', () => {
    const otherwise = LISTS.litellmPrices({ bedrock: { 'eu.anthropic.by-region': 4.6 } })
    const book = ownPrices(PRICES, { otherwise })
    expect(ask(book, { provider: 'bedrock', model: 'eu.anthropic.by-region' })?.amount).toBe('4.6')
    expect(ask(book, { provider: 'bedrock', model: 'jp.anthropic.by-region' })).toEqual(BY_REGION)
    expect(ask(book, { provider: 'bedrock', model: 'us.anthropic.by-region' })?.amount).toBe('4.4')
  })
})

describe.each(Object.entries(LISTS))('models that the host names for %s', (_, make) => {
  const models = {
    'azure/My-Deployment': 'gpt-5',
    'my-deployment': 'openai/gpt-5',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123': 'us.anthropic.by-region',
    'bedrock/cheap': 'anthropic.one',
    'azure/typing-error': 'gpt-55',
    'gpt-5': 'openai/gpt-5',
  }
  const list = make(PRICES, { models, providers: { hub: 'azure' } })

  it.each([
    ['azure', 'my-deployment', '9'],
    ['azure', 'MY-DEPLOYMENT', '9'],
    ['openai', 'my-deployment', '10'],
    ['hub', 'my-deployment', '10'],
    [undefined, 'my-deployment', '10'],
    ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123', '4.4'],
    [undefined, 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123', '4.4'],
    ['bedrock', 'cheap', '3'],
    ['gateway', 'cheap', undefined],
    ['azure', 'typing-error', undefined],
    ['azure', 'another', undefined],
    ['azure', 'gpt-5', '10'],
  ])('A run of the provider %s and the model %s costs %s', (provider, model, amount) => {
    expect(ask(list, { model, ...(provider !== undefined && { provider }) })?.amount).toBe(amount)
  })

  it('A later change of the options does not change the list', () => {
    const given = { models: { m: 'openai/gpt-5' }, providers: { p: 'openai' } }
    const one = make(PRICES, given)
    given.models.m = 'azure/gpt-5'
    given.providers.p = 'azure'
    expect(ask(one, { model: 'm' })?.amount).toBe('10')
    expect(ask(one, { provider: 'p', model: 'gpt-5' })?.amount).toBe('10')
  })

  const ITS_NAME = 'must be the name of a model in the list, such as "gpt-5"'
  it.each<[string, unknown, string, string]>([
    ['a list', [], 'models', "must be an object such as { 'azure/my-deployment': 'gpt-5' }"],
    ['a text', 'gpt-5', 'models', "must be an object such as { 'azure/my-deployment': 'gpt-5' }"],
    ['null', null, 'models', "must be an object such as { 'azure/my-deployment': 'gpt-5' }"],
    ['a name without a model', { a: '' }, 'models.a', ITS_NAME],
    ['a name with an object', { a: { model: 'gpt-5' } }, 'models.a', ITS_NAME],
    ['a name with undefined', { a: undefined }, 'models.a', ITS_NAME],
    ['a name of the prototype with a number', JSON.parse('{ "__proto__": 5 }'), 'models.__proto__', ITS_NAME],
    [
      'an empty name',
      { '': 'gpt-5' },
      'models.""',
      'must be the name of a model in runs, such as "azure/my-deployment"',
    ],
    ['a name twice', { a: 'gpt-5', A: 'gpt-4' }, 'models.A', 'is there twice: case is ignored'],
  ])('%s stops the start', (_name, value, field, detail) => {
    const error = faultOf(() => make(PRICES, { models: value } as PriceListOptions))
    expect([error?.code, error?.problems]).toEqual(['option_invalid', [{ field, detail }]])
  })

  it.each(PROTOTYPE_NAMES)('The name %s of a member of every object can be given to a model and a provider', (name) => {
    const options = {
      models: JSON.parse(`{ ${JSON.stringify(name)}: "openai/gpt-5" }`),
      providers: JSON.parse(`{ ${JSON.stringify(name)}: "openai" }`),
    }
    const named = make(PRICES, options)
    expect(ask(named, { model: name })?.amount).toBe('10')
    expect(ask(named, { provider: name, model: 'gpt-5' })?.amount).toBe('10')
    expect(ask(named, { provider: name, model: 'other' })).toBeUndefined()
    expect(ask(make(PRICES, { models: {}, providers: {} }), { provider: name, model: name })).toBeUndefined()
  })

  it.each(PROTOTYPE_NAMES)(
    'A list with a provider, a model and a price of the name %s has its other prices',
    (name) => {
      const prices: Prices = JSON.parse(
        `{ ${JSON.stringify(name)}: { "m": 1, ${JSON.stringify(name)}: 2 }, "openai": { ${JSON.stringify(name)}: 3 } }`,
      )
      const odd = make(prices)
      expect(ask(odd, { provider: name, model: 'm' })?.amount).toBe('1')
      expect(ask(odd, { provider: name, model: name })?.amount).toBe('2')
      expect(ask(odd, { provider: 'openai', model: name })?.amount).toBe('3')
      expect(ask(odd, { provider: 'openai', model: 'm' })).toBeUndefined()
    },
  )
})

describe('a pattern of genai-prices', () => {
  const prices = { input_mtok: 1, output_mtok: 0 }
  const list = genaiPrices([
    { id: 'bedrock', models: [{ id: 'a', match: { contains: 'anthropic.one' }, prices }] },
    { id: 'vertex_ai', models: [{ id: 'g', match: { contains: 'gemini' }, prices }] },
  ])

  it.each([
    ['bedrock', 'my-anthropic.one', '1'],
    ['bedrock', `${PROFILE}/us.anthropic.one`, '1'],
    ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:custom-model/anthropic.one/abc123', undefined],
    [
      'bedrock',
      'bedrock/arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/anthropic.one',
      undefined,
    ],
    ['vertex_ai', 'projects/p/locations/l/publishers/google/models/gemini-one', '1'],
    ['vertex_ai', 'projects/gemini/locations/l/publishers/google/models/other', undefined],
    ['vertex_ai', 'projects/gemini/locations/l/endpoints/5', undefined],
  ])('A part that a customer chose does not match: the model of %s in %s costs %s', (provider, model, amount) => {
    expect(ask(list, { provider, model })?.amount).toBe(amount)
  })
})

describe('the published list of genai-prices', async () => {
  const data = (await waitForUpdate()) ?? []
  const list = genaiPrices(data)

  it('Every name of a model of Bedrock costs the same in an ARN and with a route', () => {
    const ids = data.find(({ id }) => id === 'aws')?.models.map(({ id }) => id.replace(/^(?:regional|global)\./, ''))
    let compared = 0
    for (const id of new Set(ids))
      for (const geography of ['', 'us.', 'eu.', 'jp.', 'au.', 'global.']) {
        const model = `${geography}${id}`
        const price = ask(list, { provider: 'bedrock', model })
        for (const name of [
          `bedrock/converse/${model}`,
          ...(geography ? [`${PROFILE}/${model}`, `bedrock/${PROFILE}/${model}`] : []),
        ])
          expect([name, ask(list, { provider: 'aws.bedrock', model: name })]).toEqual([name, price])
        if (price?.amount) compared++
      }
    expect(compared).toBeGreaterThan(400)
  })

  it.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', '19.8'],
    ['ca.anthropic.claude-sonnet-4-5-20250929-v1:0', '19.8'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', '18'],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0', '19.8'],
  ])('The model %s has the price of Bedrock, with or without a provider', (model, amount) => {
    expect(ask(list, { provider: 'bedrock', model })?.amount).toBe(amount)
    expect(ask(list, { model })?.amount).toBe(amount)
  })
})
