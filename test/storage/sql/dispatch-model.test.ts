import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { engineDispatches } from '../../../src/storage/engine/dispatches/engine-dispatches.ts'
import { openDatabase } from '../../../src/storage/sql/connection/database.ts'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { sqlRecords } from '../../../src/storage/sql/sql-records.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { PART } from '../../support/parts.ts'
import { SEED, TIMEOUT_MS } from '../../support/properties.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { runModel } from './model/two-stores.ts'

/** More on PostgreSQL in the second part: `SALLYPORT_MODEL_OPERATIONS` of them, such as 100,000. */
const MANY = Number(process.env.SALLYPORT_MODEL_OPERATIONS ?? 2_000)
const OPERATIONS: Readonly<Partial<Record<DialectName, number>>> =
  PART === 'quick' ? { sqlite: 2_000, postgresql: 500 } : { sqlite: 2_000, postgresql: MANY, mariadb: 2_000 }
/** Low-water marks stay twice as far behind the time: less than the operations wait. */
const MARKS_TIMEOUT_MS = 10_000
const PREFIX = 'sallyport_'
/** Tables of deliveries and keys. Counters of turns remain until they expire. */
const EMPTIED = [
  ...['dispatches', 'states', 'contents', 'jobs', 'listed', 'digests', 'members', 'plan_sources', 'idempotency_keys'],
  'counters',
]

/** Calls and outcomes that must have happened; otherwise the test proves nothing. In which order pairs end is up to the machine. */
const COVERED = [
  ...['accept', 'claim', 'settle', 'renew', 'cancel', 'retry', 'replan', 'fallBack', 'eraseDispatch', 'redactAnswers'],
  ...['removeDispatches', 'forgetExpired', 'recall', 'countDue', 'listDispatches', 'findByDelivery', 'findReplannable'],
  ...['accepted', 'replayed', 'key_reused', 'quota_spent', 'joined', 'throttled', 'expired', 'reclaimed'],
  'pairs',
]

for (const kind of await databaseKinds()) {
  const count = OPERATIONS[kind.name] ?? 0
  describe.skipIf(kind.absent)(`dispatches of two processes in ${kind.name}`, () => {
    it(
      `Two processes agree with the model after each of ${count} random operations, also of pairs at once`,
      async () => {
        const database = await kind.open()
        const clock = fakeClock()
        const open = () => {
          const opened = openDatabase({
            ...{ db: database.connect(), dialect: DIALECTS[kind.name], prefix: PREFIX, timeoutMs: UNHURRIED_MS, clock },
          })
          return engineDispatches(sqlRecords({ ...opened, timeoutMs: MARKS_TIMEOUT_MS }))
        }
        try {
          const watcher = database.connect({ connections: 1 })
          const rows = () => rowCounts(watcher)
          const tally = await runModel({ stores: [open(), open()], clock, rows }, { seed: SEED, operations: count })
          if (count >= 2_000) expect(COVERED.filter((what) => !tally[what])).toEqual([])
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
