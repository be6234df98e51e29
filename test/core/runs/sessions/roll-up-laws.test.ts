import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunUpdate } from '../../../../src/model/run.ts'
import type { PriceBook } from '../../../../src/ports/price-book.ts'
import type { RunStore, StoredRun } from '../../../../src/ports/run-store.ts'
import { memoryRuns } from '../../../../src/storage/memory/memory-runs.ts'
import { record } from '../recorded.ts'
import { NOW, stillClock } from '../recorder.ts'
import { expectedSums, type Flat, flatSums, withoutZeros } from './roll-up-oracle.ts'

/** Sequences of posts. On failure the seed and the path to repeat it with are printed. */
const SEQUENCES = Number(process.env.ROLL_UP_SEQUENCES ?? 2000)
const TIMEOUT_MS = SEQUENCES * 60

const USERS = ['ann', 'bob', '__proto__']

/** A price book with one model. */
const prices: PriceBook = {
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

const fields = fc.record({
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
const posts = fc.array(fc.tuple(fields, fc.nat(2)), { minLength: 1, maxLength: 3 })

const reported = (runId: string, parentRunId: string | undefined, post: object): RunUpdate => {
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
const forests = sequences((index) =>
  fc.constantFrom(undefined, 'never', ...Array.from({ length: index * 2 }, (_, each) => `r${each % index}`)),
)

const tangles = sequences(() => fc.constantFrom(undefined, 'never', 'r0', 'r1', 'r2', 'r3', 'r4'))

async function keptSums(store: RunStore): Promise<{ session: Flat; users: Flat }> {
  const session = await store.findSession('t', 's1')
  if (!session) throw new Error('no session')
  const users: Flat = {}
  for (const user of USERS) {
    const spend = flatSums(await store.findSpend('t', user, 0))
    for (const [path, sum] of Object.entries(spend)) users[`${user}/spend/${path}`] = sum
  }
  return { session: withoutZeros(flatSums(session.totals)), users: withoutZeros(users) }
}

async function expectSums(store: RunStore, runs: readonly StoredRun[]): Promise<void> {
  const { session, users } = expectedSums(runs)
  expect(await keptSums(store)).toEqual({ session: withoutZeros(session), users: withoutZeros(users) })
}

describe('totals of a session', () => {
  it(
    'totals equal those of the runs in any order of posts',
    async () => {
      await fc.assert(
        fc.asyncProperty(forests, async (updates) => {
          const store = memoryRuns(stillClock())
          const runs = await record(store, updates, prices)
          expect(runs.filter(({ derived }) => derived.top)).toEqual([])
          await expectSums(store, runs)
        }),
        { numRuns: SEQUENCES * 0.75 },
      )
    },
    TIMEOUT_MS,
  )

  it(
    'totals equal those of the runs in cycles of parents too, which are cut',
    async () => {
      await fc.assert(
        fc.asyncProperty(tangles, async (updates) => {
          const store = memoryRuns(stillClock())
          await expectSums(store, await record(store, updates, prices))
        }),
        { numRuns: SEQUENCES * 0.25 },
      )
    },
    TIMEOUT_MS,
  )
})
