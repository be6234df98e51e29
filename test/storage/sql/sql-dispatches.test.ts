import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { engineDispatches } from '../../../src/storage/engine/dispatches/engine-dispatches.ts'
import { openDatabase } from '../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../src/storage/sql/dialects/dialects.ts'
import { migrationsFor } from '../../../src/storage/sql/schema/migrations.ts'
import { sqlRecords } from '../../../src/storage/sql/sql-records.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { type Operation, operation } from '../../core/delivery/operations.ts'
import { scenario } from '../../core/delivery/scenario.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'

/** Fewer than for the memory store, since each run has its own tables. */
const RUNS = runs(25)
/** Low-water marks stay twice as far behind the time: less than the operations wait. */
const MARKS_TIMEOUT_MS = 10_000

const ACCEPTED = {
  do: 'accept',
  tenant: 't1',
  route: 'all',
  wanted: [{ status: 'queued', limits: [], receiver: undefined }],
  recipient: 'r1',
  sessionId: undefined,
  delayMs: 0,
  expiresInMs: 600_000,
  digestMax: undefined,
  key: undefined,
} as const satisfies Operation

const LIMITS = { a: 9, b: 9, c: 9, d: 9 }

/** A lease is renewed to end sooner, right after a full scan. */
const SHORTENED: Operation[] = [
  ACCEPTED,
  { do: 'claim', leaseMs: 1_000, limits: LIMITS, busy: [] },
  { do: 'renew', lease: 0, live: true, leaseMs: 1 },
]

/** A full scan sees an expired delivery whose lease has ended, and takes a short lease. */
const SHORT_AFTER_EXPIRED: Operation[] = [
  { ...ACCEPTED, expiresInMs: 5_000 },
  { do: 'claim', leaseMs: 1_000, limits: LIMITS, busy: [] },
  ACCEPTED,
  { do: 'wait', ms: 60_000 },
  { do: 'claim', leaseMs: 1, limits: LIMITS, busy: [] },
]

/** A lease is renewed after its end; the next claim takes others and must know when it ends. */
const RENEWED_LATE: Operation[] = [
  { ...ACCEPTED, wanted: Array.from({ length: 4 }, () => ACCEPTED.wanted[0]), delayMs: 60_000 },
  { do: 'wait', ms: 600_000 },
  { do: 'claim', leaseMs: 1, limits: LIMITS, busy: [] },
  { do: 'wait', ms: 1 },
  { do: 'renew', lease: 0, live: true, leaseMs: 1 },
]

let stores = 0

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`dispatches in ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database?.close())

    it(
      'Dispatches follow the state diagram to one end, in any order of operations',
      async () => {
        if (!database) return
        const db = database.connect()
        const dialect = DIALECTS[kind.name]
        await fc.assert(
          fc.asyncProperty(fc.array(operation, { maxLength: 40, size: 'max' }), async (operations) => {
            const clock = fakeClock()
            const prefix = `s${++stores}_`
            const opened = openDatabase({ db, dialect, prefix, timeoutMs: UNHURRIED_MS, clock })
            for (const text of migrationsFor(dialect, prefix).flatMap(({ statements }) => statements))
              await db.executeQuery(CompiledQuery.raw(text))
            const store = engineDispatches(sqlRecords({ ...opened, timeoutMs: MARKS_TIMEOUT_MS }))
            const played = scenario(store, clock, () => {})
            for (const one of operations) await played.play(one)
            await played.drain()
            for (const table of ['migrations', ...Object.keys(TABLES)])
              await db.executeQuery(CompiledQuery.raw(`drop table ${prefix}${table}`))
          }),
          {
            numRuns: RUNS,
            examples: [[SHORTENED], [SHORT_AFTER_EXPIRED], [RENEWED_LATE]],
          },
        )
      },
      TIMEOUT_MS,
    )
  })
