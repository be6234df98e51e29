import { expect, it } from 'vitest'
import { mergeUpdate } from '../../../src/core/runs/merge-update.ts'
import { viewAmounts } from '../../../src/model/amounts.ts'
import { noTotals } from '../../../src/model/totals.ts'
import { addCounts, countMeasurement, noCounts, viewCounts } from '../../../src/plugins/statistics/counts.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { stillClock } from '../../core/runs/recorder.ts'
import { prices } from '../../core/runs/sessions/generated-posts.ts'
import { sequences } from '../../core/runs/sessions/source-laws.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'

it(
  'Statistics of each source are the sums of its session, and runs are counted once, in any order of posts',
  async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (posts) => {
        const clock = stillClock()
        const store = memoryStore({ clock })
        const counts = noCounts()
        for (const { update, source } of posts) {
          const own = noCounts()
          const measure = countMeasurement.bind(undefined, own)
          await mergeUpdate('t', update, { store, clock, prices, measure, logger: { log() {} } }, { source })
          addCounts(counts, own)
        }
        const { totals = noTotals() } = (await store.findSession('t', 's1')) ?? {}
        const { byApplication, byAgent, runs: recorded } = viewCounts(0, counts)
        expect(byApplication).toEqual(viewAmounts(totals.spend))
        expect(byAgent).toEqual(viewAmounts((totals.agent ?? noTotals()).spend))
        expect(recorded).toBe(new Set(posts.map(({ update }) => update.runId)).size)
      }),
      { numRuns: runs(2_000) },
    )
  },
  TIMEOUT_MS,
)
