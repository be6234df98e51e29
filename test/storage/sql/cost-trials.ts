import type { CompiledQuery, Kysely } from 'kysely'
import type { DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import type { TestDatabase } from '../databases.ts'
import type { CountedDatabase } from './cost-databases.ts'
import { meterOf, pagesOf, rowsOf, workOf } from './work-meter.ts'

/** The time of a trial; its rows are a little older. */
export const NOW = 1_800_000_000_000
/** Claims look for late writes this far behind the time. */
const MARGIN_MS = 2 * UNHURRIED_MS
/** Before all rows of a trial. */
export const EARLIER: number = NOW - 6 * MARGIN_MS
/** The two numbers of rows whose costs are compared. */
export const FEW = 100
export const MANY = 10_000

/** A store whose statistics are never renewed automatically. */
export interface CostTrial {
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  readonly db: Kysely<any>
  readonly store: SqlStore
  /** The store of another process, over the same connection. */
  readonly other: SqlStore
  /** The statements of the connection since this was last emptied. */
  readonly statements: CompiledQuery[]
  readonly clock: { now: number }
  /** Runs the measured calls on empty tables first, so that the connection plans them there. */
  first(): Promise<unknown>
  fill(count: number): Promise<void>
  /** Ends everything that was filled in. */
  drain(): Promise<void>
  analyze(): Promise<void>
  /** Another transaction holds a snapshot to the end of the trial. */
  holdSnapshot(): Promise<void>
  /** The amount that the connection reads for some work. */
  costOf(work: () => Promise<unknown>): Promise<number>
  close(): Promise<void>
}

export type Prepare = (trial: CostTrial, count: number) => Promise<void>

/** Prepares a call under a unique id, and returns it. */
export type Call = (trial: CostTrial, id: string) => Promise<() => Promise<unknown>>

/** The states of tables and statistics that a process may find. */
export const STATES: Readonly<Record<string, Prepare>> = {
  async 'tables that were never analyzed'(trial, count) {
    await trial.first()
    await trial.fill(count)
  },
  async 'tables that were analyzed when they were empty'(trial, count) {
    await trial.analyze()
    await trial.first()
    await trial.fill(count)
  },
  async 'a burst onto a drained table that was analyzed'(trial, count) {
    await trial.fill(count)
    await trial.drain()
    await trial.analyze()
    await trial.first()
    await trial.fill(count)
  },
  async 'a full table that was analyzed'(trial, count) {
    await trial.fill(count)
    await trial.analyze()
  },
}

/** States in which dead entries cannot be cleaned up. */
export const UNDER_SNAPSHOT: Readonly<Record<string, Prepare>> = {
  async 'a backlog that is drained while a transaction holds an old snapshot'(trial, count) {
    await trial.fill(count)
    await trial.holdSnapshot()
    await trial.drain()
    await trial.fill(count)
  },
  async 'a table that was drained while a transaction holds an old snapshot'(trial, count) {
    await trial.fill(count)
    await trial.holdSnapshot()
    await trial.drain()
    await trial.fill(15)
  },
}

/** Options of {@link openTrial}. */
export interface TrialOptions {
  readonly database: Omit<TestDatabase, 'idle'> & Partial<CountedDatabase>
  readonly prefix: string
  readonly first: (trial: CostTrial) => Promise<unknown>
  /** SQL that writes `count` rows, the last of them at `until`. */
  readonly fill: (name: string, count: number, until: number) => readonly string[]
  readonly drain: () => readonly string[]
}

const TABLE_NAMES = Object.keys(TABLES)
const SNAPSHOTS: Partial<Record<DialectName, string>> = {
  postgresql: 'begin isolation level repeatable read',
  mariadb: 'start transaction with consistent snapshot',
}

export async function openTrial({ database, prefix, first, fill, drain }: TrialOptions): Promise<CostTrial> {
  const { dialect } = database
  const statements: CompiledQuery[] = []
  const db = database.connect({ connections: 1, log: ({ query }) => void statements.push(query) })
  const held = database.connect({ connections: 1 })
  const clock = { now: NOW }
  const process = (): SqlStore =>
    sqlStore({ db, dialect, prefix, clock: { now: () => clock.now }, timeoutMs: UNHURRIED_MS })
  const store = process()
  await store.migrate()
  const tables = TABLE_NAMES.map((table) => `${prefix}${table}`)
  await all(
    db,
    tables.flatMap((table) => UNWATCHED[dialect]?.(table) ?? []),
  )
  let fillings = 0
  let isHeld = false

  /** Waits for background removals: they are over once the connection runs nothing else. */
  async function untilQuiet(): Promise<void> {
    do {
      statements.length = 0
      await rowsOf(db, 'select 1')
      await rowsOf(db, 'select 1')
    } while (statements.length > 2)
    statements.length = 0
  }

  const trial: CostTrial = {
    db,
    store,
    other: process(),
    statements,
    clock,
    first: () => first(trial),
    async fill(count) {
      fillings++
      await all(db, fill(`${fillings}`, count, NOW - (3 - fillings) * MARGIN_MS))
    },
    drain: () => all(db, drain()),
    analyze: () => all(db, [dialect === 'mariadb' ? `analyze table ${tables.join(', ')}` : 'analyze']),
    async holdSnapshot() {
      isHeld = true
      await all(held, [SNAPSHOTS[dialect] ?? 'begin', `select 1 from ${tables[0]} limit 1`])
    },
    async costOf(work) {
      await untilQuiet()
      if (!isHeld) await database.purged?.()
      const cost = await workOf(meterOf(dialect, db), work)
      return dialect === 'mariadb' ? cost + (await pagesOf(db, [...statements])) : cost
    },
    async close() {
      await held.destroy()
      await db.destroy()
    },
  }
  return trial
}

/** Turns off automatic statistics and cleaning of a table. */
const UNWATCHED: Partial<Record<DialectName, (table: string) => string>> = {
  postgresql: (table) => `alter table ${table} set (autovacuum_enabled = false)`,
  mariadb: (table) => `alter table ${table} stats_auto_recalc = 0`,
}

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
async function all(db: Kysely<any>, texts: readonly string[]): Promise<void> {
  for (const text of texts) await rowsOf(db, text)
}
