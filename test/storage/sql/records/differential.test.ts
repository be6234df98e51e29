import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { engineDispatches } from '../../../../src/storage/engine/dispatches/engine-dispatches.ts'
import { openDatabase } from '../../../../src/storage/sql/connection/database.ts'
import { DIALECTS, type DialectName } from '../../../../src/storage/sql/connection/dialects.ts'
import { sqlDispatches } from '../../../../src/storage/sql/dispatches/sql-dispatches.ts'
import { sqlRecords } from '../../../../src/storage/sql/records/sql-records.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { PART } from '../../../support/parts.ts'
import { SEED, TIMEOUT_MS } from '../../../support/properties.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../../databases.ts'
import { runModel } from '../model/two-stores.ts'

/** More on PostgreSQL in the second part: `SALLYPORT_MODEL_OPERATIONS` of them, such as 100,000. */
const MANY = Number(process.env.SALLYPORT_MODEL_OPERATIONS ?? 2_000)
const OPERATIONS: Readonly<Partial<Record<DialectName, number>>> =
  PART === 'quick' ? { sqlite: 2_000, postgresql: 500 } : { sqlite: 2_000, postgresql: MANY, mariadb: 2_000 }
const MARKS_TIMEOUT_MS = 10_000
const PREFIX = 'sallyport_'
const EMPTIED = [
  ...['dispatches', 'states', 'contents', 'jobs', 'listed', 'digests', 'members', 'plan_sources', 'idempotency_keys'],
  'counters',
]

let fences = 0

for (const kind of await databaseKinds()) {
  const count = OPERATIONS[kind.name] ?? 0
  describe.skipIf(kind.absent)(`the engine beside the store of before in ${kind.name}`, () => {
    it(
      `Both agree with the model after each of ${count} random operations, also of pairs at once`,
      async () => {
        const database = await kind.open()
        const clock = fakeClock()
        const open = () => {
          const opened = openDatabase({
            ...{ db: database.connect(), dialect: DIALECTS[kind.name], prefix: PREFIX, timeoutMs: UNHURRIED_MS, clock },
          })
          return { ...opened, timeoutMs: MARKS_TIMEOUT_MS }
        }
        try {
          const watcher = database.connect({ connections: 1 })
          const stores = [
            sqlDispatches(open(), { newFence: () => `f${++fences}`, isAlone: false }),
            engineDispatches(sqlRecords(open())),
          ] as const
          const tally = await runModel(
            { stores, clock, rows: () => rowCounts(watcher) },
            { seed: SEED, operations: count },
          )
          expect(tally.accept).toBeGreaterThan(1)
        } finally {
          await database.close()
        }
      },
      TIMEOUT_MS,
    )
  })
}

async function rowCounts(db: ReturnType<TestDatabase['connect']>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const table of EMPTIED) {
    const { rows } = await db.executeQuery<{ n: unknown }>(
      CompiledQuery.raw(`select count(*) as n from ${PREFIX}${table}`),
    )
    const n = Number(rows[0]?.n)
    if (n > 0) counts[table] = n
  }
  return counts
}
