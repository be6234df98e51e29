import type { RunUpdate } from '../../../../src/model/run.ts'
import type { PriceBook } from '../../../../src/ports/price-book.ts'
import { fc } from '../../../support/properties.ts'
import { NOW } from '../recorder.ts'

export const USERS: readonly string[] = ['ann', 'bob', '__proto__']

/** A price book with one model. */
export const prices: PriceBook = {
  price: ({ model, counts }) =>
    model === 'm1' ? { amount: `${(counts.inputTokens ?? 0) + 1}`, currency: 'EUR', version: '1' } : undefined,
}

const maybe = <T>(of: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight, arbitrary: of }, { weight: 2, arbitrary: fc.constant(undefined) })
const count = fc.constantFrom(0, 1, 2, 10, 1000)
const counts = fc.record(
  { inputTokens: count, outputTokens: count, totalTokens: count, steps: count, toString: count },
  { requiredKeys: [] },
)
const cost = fc.record({
  amount: fc.constantFrom('0', '0.1', '0.2', '3', '0.000000001'),
  currency: fc.constantFrom('EUR', 'USD'),
  source: fc.constant('client' as const),
})
const provider = fc.constantFrom('p1', 'constructor')
const model = fc.constantFrom('m1', 'm2')
const instant = fc.nat(100).map((step) => NOW - 100_000 + step)

/** The fields of a post. */
export const postFields: fc.Arbitrary<object> = fc.record({
  seq: maybe(fc.nat(3)),
  status: maybe(fc.constantFrom('queued', 'running', 'completed', 'failed', 'cancelled', 'expired'), 3),
  provider: maybe(provider),
  model: maybe(model),
  counts: maybe(counts, 3),
  countsScope: maybe(fc.constantFrom('tree', 'tree', 'self')),
  cost: maybe(cost),
  usageByModel: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.tuple(provider, model, counts, maybe(cost)).map(([p, m, c, money]) => ({
          provider: p,
          model: m,
          counts: c,
          ...(money && { cost: money }),
        })),
        { maxLength: 2 },
      ),
    },
  ),
  userId: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...USERS) },
  ),
  timings: maybe(
    fc.record(
      {
        startedAt: instant,
        firstTokenAt: instant,
        endedAt: instant,
        durationMs: fc.nat(200),
        activeMs: fc.nat(200),
        modelMs: count,
        toolMs: count,
        timeToFirstTokenMs: fc.nat(200),
      },
      { requiredKeys: [] },
    ),
  ),
})

/** Posts about one run; some name its parent. */
const posts: fc.Arbitrary<[post: object, hides: number][]> = fc.array(fc.tuple(postFields, fc.nat(2)), {
  minLength: 1,
  maxLength: 3,
})

export const reported = (runId: string, parentRunId: string | undefined, post: object): RunUpdate => {
  const fields = Object.entries({ sessionId: 's1', runId, parentRunId, ...post })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as unknown as RunUpdate
}

/** Posts of several runs in random order, some twice. `parentOf` draws the parent of a run by its number. */
const sequences = (parentOf: (index: number) => fc.Arbitrary<string | undefined>): fc.Arbitrary<RunUpdate[]> =>
  fc
    .integer({ min: 1, max: 5 })
    .chain((runs) => fc.tuple(...Array.from({ length: runs }, (_, index) => fc.tuple(parentOf(index), posts))))
    .map((runs) =>
      runs.flatMap(([parent, list], index) =>
        list.map(([post, hides]) => reported(`r${index}`, hides === 0 ? undefined : parent, post)),
      ),
    )
    .chain((all) => fc.subarray(all).map((again) => [...all, ...again]))
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))

/** A run's parent is an earlier run, one that is never recorded, or none. */
export const forests: fc.Arbitrary<RunUpdate[]> = sequences((index) =>
  fc.constantFrom(undefined, 'never', ...Array.from({ length: index * 2 }, (_, each) => `r${each % index}`)),
)

/** Parents that are never recorded, or in cycles. */
export const tangles: fc.Arbitrary<RunUpdate[]> = sequences(() =>
  fc.constantFrom(undefined, 'never', 'r0', 'r1', 'r2', 'r3', 'r4'),
)
