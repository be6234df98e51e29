import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { operation } from '../run-operations.ts'
import { runScenario } from '../run-scenario.ts'
import { type RunTables, runTables } from './sql-runs-database.ts'

const RUNS = runs(40)

/** Events that must have occurred for the property to be meaningful. */
const REQUIRED_EVENTS = [
  ...['created', 'merged', 'nothing merged', 'a run id of another session'],
  ...['0 ancestors', '1 ancestors', '2 ancestors', 'its own ancestor', 'a parent without a session'],
  ...['a later page, oldest first', 'a page of pending runs'],
  ...['removed all that match', 'erased a user', 'erased a session'],
]

/** A sequence with all of them, for a seed of its own: the random ones need not have any. */
const COVERING = fc.sample(operation, { seed: 3, numRuns: 200 })

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`runs in ${kind.name}`, () => {
    let database: TestDatabase
    let tables: RunTables
    beforeAll(async () => {
      database = await kind.open()
      tables = await runTables(database)
    }, 120_000)
    afterAll(() => database.close())

    it('Runs equal the model in any order of operations, and keep nothing that was erased', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const happened = new Map<string, number>()
      const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1)
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 100, size: 'max' }), async (operations) => {
          await tables.clear()
          const clock = fakeClock()
          const { play, end } = runScenario(tables.store(clock), clock, note)
          for (const one of operations) {
            // Runs are listed by creation time, then by id.
            clock.advance(1)
            await play(one.do === 'wait' ? { ...one, ms: Math.abs(one.ms) } : one)
          }
          await end()
        }),
        // Shrinking takes too long on a database.
        { numRuns: RUNS, examples: [[COVERING]], endOnFailure: true },
      )
      expect(REQUIRED_EVENTS.filter((what) => !happened.has(what))).toEqual([])
    })
  })
