import { describe, expect, it } from 'vitest'
import { unpricedEnd } from '../../../src/core/runs/merge/price-run.ts'
import { decideMerge } from '../../../src/core/runs/merge-update.ts'
import type { RunCost, RunUpdate } from '../../../src/model/run.ts'
import type { Price, PriceBook, PricedUsage, UnpricedPart } from '../../../src/ports/price-book.ts'
import type { StoredRun } from '../../../src/ports/run-store.ts'
import { type ModelPrices, priceBook } from '../../../src/pricing/index.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fc, runs } from '../../support/properties.ts'
import { NOW, problemOf, recorder, runOf, stillClock } from './recorder.ts'

const COUNTS = { inputTokens: 1_000_000, outputTokens: 100_000 }

/** A price book: a million tokens cost 1 for `m` and 2 for `n`; no other model has a price. */
const BOOK = bookOf('v1', { m: 1, n: 2 })

function bookOf(version: string, models: Readonly<Record<string, number>>, more: Partial<ModelPrices> = {}): PriceBook {
  const prices = Object.entries(models).map(([model, price]) => ({ model, input: price, output: price, ...more }))
  return priceBook({ version, prices })
}

/** Merges posts about one run in order, each with its own price book. */
function merger(): (update: Partial<RunUpdate>, prices?: PriceBook, now?: number) => Promise<StoredRun> {
  const store = memoryStore({ clock: stillClock() })
  return async (update, prices = BOOK, now = NOW) => {
    const post: RunUpdate = { runId: 'r', sessionId: 's', ...update }
    const { run } = await store.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, (snapshot) =>
      decideMerge(snapshot, post, { tenant: 't', now, prices }),
    )
    if (!run) throw new Error('nothing was stored')
    return run
  }
}

async function costOf(update: Partial<RunUpdate>, prices: PriceBook = BOOK): Promise<RunCost | undefined> {
  return (await merger()(update, prices)).derived.cost
}

const ONE: Price = { amount: '1', currency: 'USD', version: 'v' }

/** A price book with one fixed answer, and the calls it got. */
function asking(price: Price | UnpricedPart | undefined): { prices: PriceBook; questions: PricedUsage[] } {
  const questions: PricedUsage[] = []
  const prices: PriceBook = {
    price(usage) {
      questions.push(usage)
      return price
    },
  }
  return { prices, questions }
}

describe('the cost of a run', () => {
  it('A cost is calculated from the tokens and keeps the version of the prices', async () => {
    expect(await costOf({ model: 'm', counts: COUNTS })).toEqual({
      amount: '1.1',
      currency: 'USD',
      source: 'local',
      pricingVersion: 'v1',
    })
  })

  it('A cost is absent, never 0, if a part has no price', async () => {
    expect(await costOf({ counts: COUNTS })).toBeUndefined()
    expect(await costOf({ model: 'm' })).toBeUndefined()
    expect(await costOf({ model: 'm', counts: { toolCalls: 3 } })).toBeUndefined()
    expect(await costOf({ model: 'unknown', counts: COUNTS })).toBeUndefined()
    expect(await costOf({ model: 'm', counts: { inputTokens: 5 } })).toBeUndefined()
    expect(await costOf({ model: 'm', counts: { inputTokens: 0, outputTokens: 0 } })).toMatchObject({ amount: '0' })
  })

  it('A cost is absent without a price book', async () => {
    const run = await merger()({ model: 'm', counts: COUNTS }, { price: () => undefined })
    expect(run.derived.cost).toBeUndefined()
    const { post } = recorder()
    expect(runOf(await post({ runId: 'r', model: 'm', counts: COUNTS }))).not.toHaveProperty('cost')
  })

  it('No cost is calculated once a post states one', async () => {
    const cost: RunCost = { amount: '7', currency: 'EUR', source: 'provider' }
    const merge = merger()
    expect((await merge({ model: 'm', counts: COUNTS })).derived.cost).toBeDefined()
    expect((await merge({ cost })).derived.cost).toBeUndefined()
    expect((await merge({ counts: { ...COUNTS, inputTokens: 2_000_000 } })).derived.cost).toBeUndefined()
    expect(await costOf({ model: 'm', counts: COUNTS, cost })).toBeUndefined()
  })

  it('The model that answered is priced, or else the one that was asked for', async () => {
    expect(await costOf({ model: 'm', responseModel: 'n', counts: COUNTS })).toMatchObject({ amount: '2.2' })
    expect(await costOf({ model: 'm', responseModel: 'm-2026-11', counts: COUNTS })).toMatchObject({ amount: '1.1' })
    expect(await costOf({ model: 'auto', responseModel: 'n', counts: COUNTS })).toMatchObject({ amount: '2.2' })
    expect(await costOf({ responseModel: 'n', counts: COUNTS })).toMatchObject({ amount: '2.2' })
    expect(await costOf({ model: 'auto', responseModel: 'other', counts: COUNTS })).toBeUndefined()
  })

  it('The price book gets the facts of the run, and is asked once per model name', async () => {
    const { prices, questions } = asking(undefined)
    const counts = { ...COUNTS, cacheReadTokens: 5 }
    await merger()({ provider: 'p', model: 'm', responseModel: 'm', counts }, prices)
    await merger()({ model: 'm', responseModel: 'n', counts: { totalTokens: 7 } }, prices)
    expect(questions).toEqual([
      { tenant: 't', provider: 'p', model: 'm', counts, at: NOW },
      { tenant: 't', model: 'n', counts: { totalTokens: 7 }, at: NOW },
      { tenant: 't', model: 'm', counts: { totalTokens: 7 }, at: NOW },
    ])
  })

  it('The price book is not asked without tokens or with a posted cost', async () => {
    const { prices, questions } = asking(ONE)
    expect(await costOf({ model: 'm', counts: { cacheReadTokens: 5, toolCalls: 3 } }, prices)).toBeUndefined()
    const reported: RunCost = { amount: '2', currency: 'USD', source: 'provider' }
    const usageByModel = [{ provider: 'p', model: 'm', counts: COUNTS, cost: reported }]
    expect(await costOf({ usageByModel }, prices)).toEqual({ amount: '2', currency: 'USD', source: 'local' })
    expect(questions).toEqual([])
  })

  it('Prices are those at the start, the queueing, or else the first post of the run', async () => {
    const { prices, questions } = asking(ONE)
    const reported = { model: 'm', counts: COUNTS }
    const merge = merger()
    await merge(reported, prices, NOW)
    await merge({ counts: { steps: 1 } }, prices, NOW + 9)
    await merge({ timings: { queuedAt: NOW - 2_000 } }, prices, NOW + 9)
    await merge({ timings: { startedAt: NOW - 1_000 } }, prices, NOW + 9)
    expect(questions.map(({ at }) => at)).toEqual([NOW, NOW, NOW - 2_000, NOW - 1_000])
  })

  it('A cost is exact for the largest counts', async () => {
    const counts = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: Number.MAX_SAFE_INTEGER }
    const book = bookOf('v', { m: 0 }, { input: '999999.999999999999999', output: '999999.999999999999999' })
    expect(await costOf({ model: 'm', counts }, book)).toMatchObject({
      amount: '18014398509481981.999981985601490518018',
    })
    const amount = `${'9'.repeat(20)}.${'9'.repeat(20)}`
    const byModel = [
      { provider: 'p', model: 'm', counts },
      { provider: 'p', model: 'n', counts },
    ]
    const { prices } = asking({ ...ONE, amount })
    expect(await costOf({ usageByModel: byModel }, prices)).toMatchObject({
      amount: `1${'9'.repeat(20)}.${'9'.repeat(19)}8`,
    })
  })
})

describe('the cost of a run of several models', () => {
  const m = { provider: 'p', model: 'm', counts: COUNTS }
  const n = { provider: 'p', model: 'n', counts: COUNTS }
  const reported: RunCost = { amount: '0.05', currency: 'USD', source: 'provider', pricingVersion: 'theirs' }

  it('The cost of several models is the sum of theirs', async () => {
    expect(await costOf({ usageByModel: [m, n] })).toEqual({
      amount: '3.3',
      currency: 'USD',
      source: 'local',
      pricingVersion: 'v1',
    })
    expect(await costOf({ model: 'n', counts: COUNTS, usageByModel: [m] })).toMatchObject({ amount: '1.1' })
    expect(await costOf({ model: 'n', counts: COUNTS, usageByModel: [] })).toMatchObject({ amount: '2.2' })
  })

  it('The posted cost of a model is taken as it is', async () => {
    expect(await costOf({ usageByModel: [m, { ...n, cost: reported }] })).toMatchObject({
      amount: '1.15',
      pricingVersion: 'v1',
    })
    const unknown = { provider: 'p', model: 'unknown', counts: {}, cost: reported }
    expect(await costOf({ usageByModel: [unknown, unknown] })).toEqual({
      amount: '0.1',
      currency: 'USD',
      source: 'local',
    })
  })

  it('The cost of each model is stored, and needs no price book if all are posted', async () => {
    const merge = merger()
    const first = await merge({ usageByModel: [m, { ...n, cost: reported }] })
    expect(first.derived.shares?.map(({ amount, source }) => `${amount} ${source}`)).toEqual([
      '1.1 local',
      '0.05 provider',
    ])
    const again = await merge({ status: 'completed' }, bookOf('v2', { m: 9 }))
    expect(again.derived.shares).toEqual(first.derived.shares)
    const { runs, deps } = { runs: recorder(), deps: undefined }
    expect(deps).toBeUndefined()
    const run = runOf(
      await runs.post({
        runId: 'r1',
        usageByModel: [
          { ...m, cost: reported },
          { ...n, cost: reported },
        ],
      }),
    )
    expect(run.cost).toEqual({ amount: '0.1', currency: 'USD', source: 'local' })
  })

  it('A summed cost names each price version once, sorted', async () => {
    const book = priceBook({
      version: 'v1',
      prices: [
        { model: 'm', input: 1, output: 1, version: 'z' },
        { model: 'n', input: 1, output: 1, version: 'a' },
      ],
    })
    expect((await costOf({ usageByModel: [m, m, n] }, book))?.pricingVersion).toBe('a z')
  })

  it('A summed cost is absent if one model has no price or another currency', async () => {
    expect(await costOf({ usageByModel: [m, { ...n, model: 'unknown' }] })).toBeUndefined()
    expect(await costOf({ model: 'm', counts: COUNTS, usageByModel: [{ ...n, model: 'unknown' }] })).toBeUndefined()
    expect(await costOf({ usageByModel: [m, { ...n, counts: {} }] })).toBeUndefined()
    expect(await costOf({ usageByModel: [m, { ...n, cost: { ...reported, currency: 'EUR' } }] })).toBeUndefined()
  })

  it('A summed cost is absent if the models have fewer tokens than the run', async () => {
    const more = { inputTokens: COUNTS.inputTokens * 2, outputTokens: COUNTS.outputTokens * 2 }
    expect(await costOf({ counts: more, usageByModel: [m, n] })).toBeDefined()
    expect(await costOf({ counts: { inputTokens: more.inputTokens + 1 }, usageByModel: [m, n] })).toBeUndefined()
    expect(await costOf({ counts: { outputTokens: more.outputTokens + 1 }, usageByModel: [m, n] })).toBeUndefined()
    expect(await costOf({ counts: more, usageByModel: [{ ...m, counts: {}, cost: reported }] })).toBeDefined()
  })
})

describe('a stored cost', () => {
  const LATER = bookOf('v2', { m: 5, n: 5, unknown: 5 })
  const NONE: PriceBook = { price: () => undefined }
  const reported: Partial<RunUpdate> = { provider: 'p', model: 'm', responseModel: 'm', counts: COUNTS, seq: 1 }

  it.each<[string, Partial<RunUpdate>]>([
    ['an end', { status: 'completed', timings: { endedAt: NOW, durationMs: 5, firstTokenAt: NOW } }],
    ['a tag', { tags: ['a'], metadata: { a: 1 }, userId: 'u' }],
    ['the same model in a later post', { ...reported, seq: 7 }],
    ['fewer tokens', { counts: { inputTokens: 5 } }],
    ['another model in an earlier post', { seq: 0, model: 'n' }],
  ])('A stored cost stays when prices change and a post has %s', async (_, update) => {
    const merge = merger()
    const { cost } = (await merge(reported)).derived
    expect((await merge(update, LATER)).derived.cost).toBe(cost)
    expect((await merge({ tags: ['z'] }, NONE)).derived.cost).toBe(cost)
  })

  it.each<[string, Partial<RunUpdate>]>([
    ['more tokens', { counts: { outputTokens: 200_000 } }],
    ['another model', { seq: 2, model: 'n' }],
    ['another answering model', { seq: 2, responseModel: 'n' }],
    ['another provider', { seq: 2, provider: 'q' }],
    ['an earlier start', { timings: { startedAt: NOW - 5 } }],
    ['an earlier place in the queue', { timings: { queuedAt: NOW - 5 } }],
    ['models', { usageByModel: [{ provider: 'p', model: 'm', counts: COUNTS }] }],
  ])('A stored cost is calculated again with the current prices when a post has %s', async (_, update) => {
    const merge = merger()
    await merge(reported)
    const { cost } = (await merge(update, LATER)).derived
    expect(cost).toMatchObject({ pricingVersion: 'v2' })
    const again = merger()
    await again(reported)
    expect((await again(update, NONE)).derived.cost).toBeUndefined()
  })

  it('A stored cost is calculated again for other models, and not for the same', async () => {
    const usageByModel = [{ provider: 'p', model: 'm', counts: COUNTS }]
    const merge = merger()
    const { cost } = (await merge({ usageByModel, seq: 1 })).derived
    expect((await merge({ usageByModel: structuredClone(usageByModel), seq: 2 }, LATER)).derived.cost).toBe(cost)
    const other = [{ provider: 'p', model: 'n', counts: COUNTS }]
    expect((await merge({ usageByModel: other, seq: 3 }, LATER)).derived.cost).toMatchObject({ pricingVersion: 'v2' })
  })

  it('An absent cost stays absent until a post changes its inputs', async () => {
    const merge = merger()
    await merge({ model: 'unknown', counts: COUNTS })
    expect((await merge({ status: 'completed' }, LATER)).derived.cost).toBeUndefined()
    expect((await merge({ counts: { inputTokens: 2_000_000 } }, LATER)).derived.cost).toBeDefined()
  })

  it('A run shows one cost: the posted one, or else the stored one', async () => {
    const { post } = recorder({ prices: BOOK })
    const cost = { amount: '1.1', currency: 'USD', source: 'local', pricingVersion: 'v1' }
    expect(runOf(await post({ runId: 'r', model: 'm', counts: COUNTS })).cost).toEqual(cost)
    const theirs = { amount: '3', currency: 'EUR', source: 'provider' }
    expect(runOf(await post({ runId: 'r', cost: theirs })).cost).toEqual(theirs)
  })
})

describe('a faulty price book', () => {
  const broken = (price: unknown): PriceBook => ({ price: () => price as Price })
  const reported = { runId: 'r', model: 'm', counts: COUNTS }

  it.each<[string, unknown, string]>([
    ['an amount below 0', { ...ONE, amount: '-1' }, 'amount'],
    ['an exponent', { ...ONE, amount: '1e-7' }, 'amount'],
    ['a number', { ...ONE, amount: 0.1 }, 'amount'],
    ['41 digits', { ...ONE, amount: '1'.repeat(41) }, 'amount'],
    ['an empty amount', { ...ONE, amount: '' }, 'amount'],
    ['a currency in lower case', { ...ONE, currency: 'usd' }, 'currency'],
    ['a currency that is a key of objects', { ...ONE, currency: '__proto__' }, 'currency'],
    ['no currency', { amount: '1', version: 'v' }, 'currency'],
    ['an empty version', { ...ONE, version: '' }, 'version'],
    ['a version of 101 characters', { ...ONE, version: 'v'.repeat(101) }, 'version'],
    ['a version with a space', { ...ONE, version: 'a b' }, 'version'],
    ['no version', { amount: '1', currency: 'USD' }, 'version'],
  ])('An invalid price is 500 and nothing is recorded: %s', async (_, price, field) => {
    const { post, lines, deps } = recorder({ prices: broken(price) })
    expect(problemOf(await post(reported))).toMatchObject({ status: 500, code: 'internal_error' })
    expect(lines).toMatchObject([
      {
        event: 'request.failed',
        fields: { causeCode: 'option_invalid', cause: expect.stringContaining(`"${field}"`) },
      },
    ])
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })).toBeUndefined()
  })

  it.each<[string, unknown]>([
    ['an object with currency (a string), version (a string)', { currency: 'USD', version: 'v' }],
    ['null', null],
    ['a promise', Promise.resolve(ONE)],
    ['a string', '1'],
  ])('A price book that returns no price is 500, and the log says what came: %s', async (came, price) => {
    const { post, lines } = recorder({ prices: broken(price) })
    expect(problemOf(await post(reported))).toMatchObject({ status: 500, code: 'internal_error' })
    const cause = expect.stringContaining(`price() of the price book returned ${came}; return `)
    expect(lines).toMatchObject([{ event: 'request.failed', fields: { causeCode: 'answer_invalid', cause } }])
  })

  it('A price book that throws is 500 and leaves the stored run as it was', async () => {
    const { post, deps, lines } = recorder()
    await post({ runId: 'r' })
    const before = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })
    const prices = {
      price() {
        throw new RangeError('jane@example.com')
      },
    }
    const { post: postTo } = recorder({ store: deps.store, prices, logger: deps.logger })
    expect(problemOf(await postTo(reported))).toMatchObject({ status: 500, code: 'internal_error' })
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r' })).toEqual(before)
    expect(lines).toMatchObject([{ fields: { cause: 'The price book threw: RangeError' } }])
    expect(JSON.stringify(lines)).not.toContain('jane')
  })

  it('A price with needless zeros is accepted', async () => {
    const { prices } = asking({ ...ONE, amount: '01.50' })
    expect(await costOf({ model: 'm', counts: COUNTS }, prices)).toMatchObject({ amount: '1.5' })
  })
})

describe('the warning `unpriced`', () => {
  async function warnings(update: Partial<RunUpdate>, prices: PriceBook | undefined = BOOK) {
    const post: RunUpdate = { runId: 'r', sessionId: 's', ...update }
    return unpricedEnd(post, await merger()(update), 'application', { tenant: 't', prices }).map(
      ({ code, pointer }) => `${code} ${pointer}`,
    )
  }
  const unknown: Partial<RunUpdate> = { status: 'completed', model: 'unknown', counts: COUNTS }

  it('A run that ends with tokens and without a cost gets the warning unpriced', async () => {
    expect(await warnings(unknown)).toEqual(['unpriced /run'])
    expect(await warnings({ ...unknown, counts: { totalTokens: 1 } })).toEqual(['unpriced /run'])
    expect(await warnings({ status: 'failed', counts: { outputTokens: 1 } })).toEqual(['unpriced /run'])
    const usageByModel = [{ provider: 'p', model: 'unknown', counts: { inputTokens: 1 } }]
    expect(await warnings({ status: 'cancelled', usageByModel })).toEqual(['unpriced /run'])
  })

  it('Other posts get no warning about a missing price', async () => {
    expect(await warnings({ ...unknown, status: 'running' })).toEqual([])
    expect(await warnings({ model: 'unknown', counts: COUNTS })).toEqual([])
    expect(await warnings({ ...unknown, model: 'm' })).toEqual([])
    expect(await warnings({ ...unknown, cost: { amount: '0', currency: 'USD', source: 'client' } })).toEqual([])
    expect(await warnings({ ...unknown, counts: {} })).toEqual([])
    expect(await warnings({ ...unknown, counts: { inputTokens: 0, outputTokens: 0, steps: 3 } })).toEqual([])
    expect(
      unpricedEnd({ runId: 'r', sessionId: 's', ...unknown }, await merger()(unknown), 'application', { tenant: 't' }),
    ).toEqual([])
  })
})

const name = fc.constantFrom('m', 'n', 'unknown')
const count = fc.constantFrom(0, 1, 10, 999_999, Number.MAX_SAFE_INTEGER)
const counts = fc.record({ inputTokens: count, outputTokens: count, cacheReadTokens: count }, { requiredKeys: [] })
const update: fc.Arbitrary<Partial<RunUpdate>> = fc.record(
  {
    seq: fc.nat(3),
    provider: fc.constantFrom('p', 'q'),
    model: name,
    responseModel: name,
    counts,
    timings: fc.record(
      { startedAt: fc.constantFrom(NOW - 2, NOW - 1, NOW), queuedAt: fc.constant(NOW - 3) },
      { requiredKeys: [] },
    ),
    usageByModel: fc.array(fc.record({ provider: fc.constantFrom('p', 'q'), model: name, counts }), { maxLength: 2 }),
    status: fc.constantFrom('running', 'completed', 'failed'),
  },
  { requiredKeys: [] },
)
const orders = fc
  .array(update, { minLength: 1, maxLength: 5 })
  .chain((posts) =>
    fc.tuple(fc.constant(posts), fc.shuffledSubarray([...posts, ...posts], { minLength: posts.length * 2 })),
  )

const ORDERS = runs(1_000)
/** Posts with a price in the book below. */
const PRICED: readonly Partial<RunUpdate>[] = [
  { provider: 'q', model: 'n', counts: { inputTokens: 10, outputTokens: 1 } },
  { provider: 'q', model: 'n', counts: { inputTokens: 999_999, outputTokens: 10 } },
]

describe('the cost of a run with one price book', () => {
  const book = priceBook({
    version: 'v',
    prices: [
      { model: 'm', input: '1.25', output: 10, cacheRead: '0.125', until: new Date(NOW - 1).toISOString() },
      { model: 'm', input: 2, output: 11, cacheRead: 1, from: new Date(NOW - 1).toISOString(), version: 'w' },
      {
        model: 'n',
        provider: 'q',
        input: '0.1',
        output: '0.7',
        cacheRead: 0,
        tiers: [{ aboveInputTokens: 5_000, input: 3, output: 4, cacheRead: 1 }],
      },
    ],
  })

  it('A cost does not depend on the order and number of the posts', async () => {
    let priced = 0
    await fc.assert(
      fc.asyncProperty(orders, async ([posts, others]) => {
        const [one, another] = [merger(), merger()]
        let first: StoredRun | undefined
        let second: StoredRun | undefined
        for (const post of posts) first = await one(post, book)
        for (const post of others) second = await another(post, book)
        expect(second?.derived.cost).toEqual(first?.derived.cost)
        if (first?.derived.cost !== undefined) priced++
      }),
      { numRuns: ORDERS, examples: PRICED.map((post) => [[[post], [post, post]]]) },
    )
    expect(priced).toBeGreaterThan(ORDERS / 100)
  })
})
