/**
 * A store in SQLite, PostgreSQL, MySQL or MariaDB, over the Kysely instance that the host has.
 *
 * @module sallyport/storage/sql
 */
import { SallyportError } from '../../errors.ts'
import { has, whole } from '../../options/checks.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { type Database, openDatabase } from './connection/database.ts'
import { DIALECTS, type DialectName } from './connection/dialects.ts'
import type { HostKysely, HostTransaction } from './connection/host-kysely.ts'
import { dialect, kysely, notify, prefix } from './connection/option-checks.ts'
import { checkReadiness } from './connection/readiness.ts'
import { explainingUnmigrated } from './connection/unmigrated.ts'
import { sqlDispatches } from './dispatches/sql-dispatches.ts'
import { sqlRuns } from './runs/sql-runs.ts'
import { migrate } from './schema/migrate.ts'
import { migrationsFor, type SqlMigration } from './schema/migrations.ts'

export type { DialectName, HostKysely, HostTransaction, SqlMigration }

/** How an SQL store is made. */
export interface SqlStoreOptions {
  /** The host's own, of any tables. Its plugins change nothing: the store has names of its own. */
  readonly db: HostKysely
  /**
   * What the database is: SQLite 3.38, PostgreSQL 12, MySQL 8.0.17, MariaDB 10.6, or a newer one. `ready()` finds out when it is
   * another.
   */
  readonly dialect: DialectName
  /** What the names of all tables begin with: letters, digits and underscores, 30 at most. Default: `sallyport_`. */
  readonly prefix?: string
  /**
   * How long one statement may take before the store counts as unavailable, in milliseconds. An event, a settlement or a merge
   * waits as long to be begun, and as long again to be done. 10 to 600,000. Default: 900.
   */
  readonly timeoutMs?: number
  /**
   * With `postgresql`: the channel of the host's `postgresQueue()`, `sallyport_due` if it has no other. What is accepted within a
   * transaction is then told to its workers at commit. Default: they find it when they next look.
   */
  readonly notify?: string
  /** For tests: what decides when a delivery is due. Default: the database's clock, which all processes share. */
  readonly clock?: Pick<Clock, 'now'>
}

const STATEMENTS: Checks<Pick<SqlStoreOptions, 'dialect' | 'prefix'>> = { dialect: required(dialect), prefix }

const STORE: Checks<SqlStoreOptions> = {
  db: required(kysely),
  ...STATEMENTS,
  timeoutMs: whole(10, 600_000),
  notify,
  clock: has('now'),
}

/** Keeps everything in a host's database. */
export interface SqlStore extends DispatchStore, RunStore {
  /**
   * Makes the tables, or brings them up to date: to be awaited before the host listens. Nothing to do is quickly done, and several
   * processes may call it at once. Takes as long as it takes, whatever `timeoutMs` says.
   *
   * @throws {SallyportError} `config_invalid`, as {@link ready} does; also when a newer version migrated the database, which is
   * then left as it is. What the driver throws while tables are made is thrown as it is: that the user may not make any, say.
   */
  migrate(): Promise<void>
  /**
   * Resolves when the store can be used. It only reads.
   *
   * @throws {SallyportError} `config_invalid`, with what is wrong and what to do: the database is not migrated, or by a newer
   * version; it cannot be reached, is another than was said, or too old.
   */
  ready(): Promise<void>
  /**
   * A store within a transaction of the host's: an order and its notification are committed together, or not at all.
   *
   * One call at a time. What it refuses, or repeats, leaves the transaction as it was. When it throws (`dispatch()` then answers
   * 503 `store_unavailable`), the host must undo the transaction: a database may have done so already.
   *
   * On PostgreSQL at `repeatable read` or `serializable` it sees nothing that was committed since the transaction began. What
   * meets such a change (a key or a limit that others used meanwhile) throws what the database said (`40001`, `23505`): the host
   * tries the whole transaction again. At `read committed` that is done within.
   *
   * @throws {SallyportError} `option_invalid`, unless it is a transaction of Kysely.
   */
  within(transaction: HostTransaction): DispatchStore
}

/**
 * Keeps everything in the host's SQLite, PostgreSQL, MySQL or MariaDB, through Kysely. Any number of processes may share it.
 * Nothing is asked of the database before it is used: await `migrate()`, or `ready()`, first.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong with the options.
 */
export function sqlStore(options: SqlStoreOptions): SqlStore {
  const { db, dialect, prefix = PREFIX, timeoutMs = 900, clock, notify } = readOptions('sqlStore', options, STORE)
  const shared = { dialect: DIALECTS[dialect], prefix, clock }
  const database = openDatabase({ db, ...shared, timeoutMs })
  return {
    ...explainingUnmigrated(sqlDispatches(database, { newFence, isAlone: false }), prefix),
    ...explainingUnmigrated(sqlRuns(database, { isAlone: false }), prefix),
    migrate: () => migrate(db.withoutPlugins(), openDatabase({ db, ...shared, timeoutMs: MIGRATING_MS })),
    ready: () => checkReadiness(database),
    within(transaction) {
      if (transaction?.isTransaction !== true) {
        throw new SallyportError('option_invalid', 'within() takes a transaction of Kysely.')
      }
      const own = openDatabase({ db: transaction, ...shared, timeoutMs, isTransaction: true })
      const store = explainingUnmigrated(sqlDispatches(own, { newFence, isAlone: true }), prefix)
      return notify === undefined ? store : notifying(store, notify, own)
    },
  }
}

/**
 * What `migrate()` runs on an empty database, in its order: for hosts with a migration tool of their own. Each migration is to be
 * run once, where the database can do that in one transaction; `ready()` and `migrate()` go by what its last statement records.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong with the options.
 */
export function sqlStatements(options: Pick<SqlStoreOptions, 'dialect' | 'prefix'>): readonly SqlMigration[] {
  const { dialect, prefix = PREFIX } = readOptions('sqlStatements', options, STATEMENTS)
  return migrationsFor(DIALECTS[dialect], prefix)
}

const PREFIX = 'sallyport_'

/** Enough for a database that has to wake up first. */
const MIGRATING_MS = 60_000

/** Others hear of what became due when the transaction is committed, and not before; of what is undone they never do. */
function notifying(store: DispatchStore, channel: string, db: Database): DispatchStore {
  const notify = () => db.query('select pg_notify($1, $2)', [channel, ''])
  return {
    ...store,
    async accept(acceptance) {
      const outcome = await store.accept(acceptance)
      if (outcome.outcome === 'accepted') await notify()
      return outcome
    },
    async retry(tenant, dispatchId, options) {
      const change = await store.retry(tenant, dispatchId, options)
      if (change && change.changed.length > 0) await notify()
      return change
    },
    async replan(...of) {
      const outcome = await store.replan(...of)
      if (outcome?.outcome === 'replanned' && outcome.changed.length > 0) await notify()
      return outcome
    },
  }
}

function newFence(): string {
  return crypto.randomUUID().replaceAll('-', '')
}
