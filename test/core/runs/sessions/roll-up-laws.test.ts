import { describe, expect, it } from 'vitest'
import type { RunUpdate } from '../../../../src/model/run.ts'
import type { RunStore, StoredRun } from '../../../../src/ports/run-store.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { record } from '../recorded.ts'
import { stillClock } from '../recorder.ts'
import { posts, prices, reported, USERS } from './generated-posts.ts'
import { expectedSums, type Flat, flatSums, withoutZeros } from './roll-up-oracle.ts'

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
    'Totals equal those of the runs in any order of posts',
    async () => {
      await fc.assert(
        fc.asyncProperty(forests, async (updates) => {
          const store = memoryStore({ clock: stillClock() })
          const runs = await record(store, updates, prices)
          expect(runs.filter(({ derived }) => derived.top)).toEqual([])
          await expectSums(store, runs)
        }),
        { numRuns: runs(1500) },
      )
    },
    TIMEOUT_MS,
  )

  it(
    'Totals equal those of the runs in cycles of parents too, which are cut',
    async () => {
      await fc.assert(
        fc.asyncProperty(tangles, async (updates) => {
          const store = memoryStore({ clock: stillClock() })
          await expectSums(store, await record(store, updates, prices))
        }),
        { numRuns: runs(500) },
      )
    },
    TIMEOUT_MS,
  )
})
