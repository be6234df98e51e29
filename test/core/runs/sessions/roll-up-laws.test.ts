import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { record } from '../recorded.ts'
import { stillClock } from '../recorder.ts'
import { forests, prices, tangles } from './generated-posts.ts'
import { expectSums } from './kept-sums.ts'

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
