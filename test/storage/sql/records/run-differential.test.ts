import { describe, expect, it } from 'vitest'
import type { RunStore } from '../../../../src/ports/run-store.ts'
import { engineRuns } from '../../../../src/storage/engine/runs/engine-runs.ts'
import { openDatabase } from '../../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../../src/storage/sql/connection/dialects.ts'
import { sqlRecords } from '../../../../src/storage/sql/records/sql-records.ts'
import { sqlRuns } from '../../../../src/storage/sql/runs/sql-runs.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds } from '../../databases.ts'
import { operation } from '../../run-operations.ts'
import { runScenario } from '../../run-scenario.ts'
import { emptyTables } from '../../store-each.ts'

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`runs of the engine beside the store of before in ${kind.name}`, () => {
    it('Both equal the model in any order of operations', { timeout: TIMEOUT_MS }, async () => {
      const database = await kind.open()
      const hosts = [database.connect(), database.connect()] as const
      let count = 0
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 200, minLength: 50, size: 'max' }), async (operations) => {
          const clock = fakeClock()
          await emptyTables(database, hosts[0])
          const open = (db: (typeof hosts)[number]) =>
            openDatabase({ db, dialect: DIALECTS[kind.name], prefix: 'sallyport_', timeoutMs: UNHURRIED_MS, clock })
          const stores = [
            sqlRuns(open(hosts[0]), { isAlone: false }),
            engineRuns(sqlRecords(open(hosts[1])), { isAlone: false }),
          ] as const
          let at = 0
          const store = Object.fromEntries(
            Object.keys(stores[0]).map((name) => [
              name,
              (...args: unknown[]) => {
                at += name.length + args.length
                return (stores[at % 2] as unknown as Record<string, (...of: unknown[]) => unknown>)[name]?.(...args)
              },
            ]),
          ) as unknown as RunStore
          const { play, end } = runScenario(store, clock, () => {})
          for (const one of operations) {
            at += 1
            count++
            clock.advance(1)
            await play(one.do === 'wait' ? { ...one, ms: Math.abs(one.ms) } : one)
          }
          await end()
        }),
        { numRuns: runs(20), endOnFailure: true },
      )
      await database.close()
      expect(count).toBeGreaterThan(0)
    })
  })
