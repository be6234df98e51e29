import { CompiledQuery, type Kysely } from 'kysely'
import type { Clock } from '../../../src/ports/clock.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import type { Records } from '../../../src/storage/engine/records.ts'
import { engineRuns } from '../../../src/storage/engine/runs/engine-runs.ts'
import { openDatabase } from '../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../src/storage/sql/dialects/dialects.ts'
import { tableNames } from '../../../src/storage/sql/dialects/statements.ts'
import { migrationsFor } from '../../../src/storage/sql/schema/migrations.ts'
import { sqlRecords } from '../../../src/storage/sql/sql-records.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import type { TestDatabase } from '../databases.ts'
import { countedRecords } from '../engine/counted-records.ts'

const TABLES = ['sessions', 'runs', 'run_tags', 'run_sums', 'spends'] as const
const PREFIX = 'runs_'

/** Run stores on one database, each over its own pool, like processes. */
export interface RunTables {
  /** @param clock Default: the database's own. */
  store(clock?: Pick<Clock, 'now'>): RunStore
  /** With a counter of queries since the last look at it. */
  countingStore(clock: Pick<Clock, 'now'>): CountingStore
  rows(table: (typeof TABLES)[number]): Promise<readonly Readonly<Record<string, unknown>>[]>
  clear(): Promise<void>
}

export interface CountingStore {
  readonly store: RunStore
  readonly asked: () => number
  /** Makes the next write fail as if the database were gone. */
  readonly failNext: () => void
}

export async function runTables(test: TestDatabase): Promise<RunTables> {
  const dialect = DIALECTS[test.dialect]
  const nameOf = tableNames(dialect, PREFIX)
  const pools: Kysely<unknown>[] = [test.connect()]
  const first = pools[0] as Kysely<unknown>
  let opened = 0
  for (const text of migrationsFor(dialect, PREFIX).flatMap(({ statements }) => statements))
    await first.executeQuery(CompiledQuery.raw(text))

  /** Two pools take turns. On SQLite there is one: two connections of one process would block one another. */
  function recordsOf(clock?: Pick<Clock, 'now'>): Records {
    const at = test.dialect === 'sqlite' ? 0 : opened++ % 2
    pools[at] ??= test.connect()
    return sqlRecords(openDatabase({ db: pools[at], dialect, prefix: PREFIX, timeoutMs: UNHURRIED_MS, clock }))
  }

  return {
    store: (clock) => engineRuns(recordsOf(clock), { isAlone: false }),
    countingStore(clock) {
      const { records, calls, failNext } = countedRecords(recordsOf(clock))
      return { store: engineRuns(records, { isAlone: false }), asked: () => calls().length, failNext }
    },
    async rows(table) {
      const { rows } = await first.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(`select * from ${nameOf(table)}`),
      )
      return rows
    },
    async clear() {
      for (const table of TABLES) await first.executeQuery(CompiledQuery.raw(`delete from ${nameOf(table)}`))
    },
  }
}
