import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunStore } from '../../../src/ports/run-store.ts'
import type { Posted } from '../../core/runs/recorded.ts'
import { stillClock } from '../../core/runs/recorder.ts'
import {
  expectAgentsAlone,
  expectApplicationKept,
  expectSums,
  recordSequence,
  sequences,
} from '../../core/runs/sessions/source-laws.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { runTables } from './sql-runs-database.ts'

/** Sequences of posts for each database. */
const SEQUENCES = runs(60)
/** Sequences that are recorded at the same time, as in a host: stores write their merges together. */
const TOGETHER = Math.min(SEQUENCES, 200)

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`runs of two sources in ${kind.name}`, () => {
    let database: TestDatabase
    let store: RunStore
    beforeAll(async () => {
      database = await kind.open()
      store = (await runTables(database)).store(stillClock())
    }, 120_000)
    afterAll(() => database.close())

    it(
      'Sums, what applications reported and what agents are shown keep the laws of two sources',
      async () => {
        const together = fc.array(sequences, { minLength: TOGETHER, maxLength: TOGETHER })
        const expectLaws = async (posts: readonly Posted[]): Promise<void> => {
          const sequence = recordSequence(posts, store)
          for (const expectLaw of [expectSums, expectApplicationKept, expectAgentsAlone]) await expectLaw(sequence)
        }
        await fc.assert(
          fc.asyncProperty(together, async (all) => void (await Promise.all(all.map(expectLaws)))),
          // Shrinking takes too long on a database.
          { numRuns: Math.ceil(SEQUENCES / TOGETHER), endOnFailure: true },
        )
        expect.hasAssertions()
      },
      TIMEOUT_MS,
    )
  })
