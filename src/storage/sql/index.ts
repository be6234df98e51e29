/**
 * A store in SQLite, PostgreSQL, MySQL or MariaDB, over the Kysely instance that the host has.
 *
 * @module sallyport/storage/sql
 */
import { SallyportError } from '../../errors.ts'
import { has, like, oneOf, whole } from '../../options/checks.ts'
import { type Check, type Checks, readOptions, required } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { type Database, type HostKysely, type HostTransaction, openDatabase } from './connection/database.ts'
import { DIALECTS, type DialectName } from './connection/dialects.ts'
import { checkReadiness } from './connection/readiness.ts'
import { isNoSuchFunction, isNoSuchTable, notReady, REMEDY } from './connection/readiness-errors.ts'
import { sqlDispatches } from './dispatches/sql-dispatches.ts'
import { sqlRuns } from './runs/sql-runs.ts'
import { migrate } from './schema/migrate.ts'
import { migrationsFor, type SqlMigration } from './schema/migrations.ts'

export type { DialectName, HostKysely, HostTransaction, SqlMigration }

/** Options of `sqlStore()`. */
export interface SqlStoreOptions {
  /** The host's own instance, of any tables. Its plugins have no effect on the store. */
  readonly db: HostKysely
  /** The database: SQLite 3.38, PostgreSQL 12, MySQL 8.0.17, MariaDB 10.6, or newer. `ready()` checks it. */
  readonly dialect: DialectName
  /** The prefix of all table names: letters, digits and underscores, 30 at most. Default: `sallyport_`. */
  readonly prefix?: string
  /**
   * The limit for one statement in milliseconds; after it the store counts as unavailable. An event, a settlement or a merge waits
   * at most as long to begin, and as long again to be done. 10 to 600,000. Default: 900.
   */
  readonly timeoutMs?: number
  /**
   * With `postgresql`: the channel of the host's `postgresQueue()`, `sallyport_due` if it has no other. The commit of a transaction
   * that accepted an event then wakes its workers. Default: they find the event when they next look.
   */
  readonly notify?: string
  /** For tests: the clock that decides when a delivery is due. Default: the database's clock, which all processes share. */
  readonly clock?: Pick<Clock, 'now'>
}

const METHODS = ['executeQuery', 'withoutPlugins', 'connection']

const kysely: Check = (db) => {
  if (METHODS.some((method) => typeof Reflect.get(Object(db), method) !== 'function')) return 'is no instance of Kysely'
  return Reflect.get(Object(db), 'isTransaction') === true ? 'is a transaction: use within() of a store' : undefined
}

const letters = like(/^[A-Za-z0-9_]{1,30}$/, 'must be 1-30 letters, digits and underscores')
const free = like(/^(?!sqlite_)/i, 'must not begin with sqlite_, which SQLite reserves')
const channel = like(
  /^[A-Za-z_][A-Za-z0-9_]{0,62}$/,
  'must be letters, digits and underscores, 63 at most, no digit first',
)

const STATEMENTS: Checks<Pick<SqlStoreOptions, 'dialect' | 'prefix'>> = {
  dialect: required(oneOf(Object.keys(DIALECTS))),
  prefix: (value, given) => letters(value, given) ?? free(value, given),
}

const STORE: Checks<SqlStoreOptions> = {
  db: required(kysely),
  ...STATEMENTS,
  timeoutMs: whole(10, 600_000),
  notify: (value, given) => (given.dialect === 'postgresql' ? channel(value, given) : 'is for postgresql alone'),
  clock: has('now'),
}

/** A store in a host's database. */
export interface SqlStore extends DispatchStore, RunStore {
  /**
   * Makes the tables, or brings them up to date: await it before the host listens. It is quick when nothing is to be done, and
   * several processes may call it at once. `timeoutMs` does not limit it.
   *
   * @throws {SallyportError} `config_invalid`, as {@link ready} does; also if a newer version migrated the database, which is then
   * left as it is. Errors of the driver while tables are made are thrown as they are: a missing privilege, for example.
   */
  migrate(): Promise<void>
  /**
   * Resolves when the store can be used. It only reads.
   *
   * @throws {SallyportError} `config_invalid`, with the problem and the remedy: the database is not migrated, or a newer version
   * migrated it; it cannot be reached, is of another kind than `dialect`, or too old.
   */
  ready(): Promise<void>
  /**
   * A store within a transaction of the host's: an order and its notification are committed together, or not at all.
   *
   * Make one call at a time. A refused or repeated event leaves the transaction as it was. When a call throws (`dispatch()` then
   * answers 503 `store_unavailable`), the host must undo the transaction: the database may have done so already.
   *
   * On PostgreSQL at `repeatable read` or `serializable`, the store sees nothing that was committed since the transaction began. If
   * it meets such a change (a key or a limit that others used meanwhile), it throws the database's error (`40001`, `23505`), and the
   * host tries the whole transaction again. At `read committed` the store itself tries again.
   *
   * @throws {SallyportError} `option_invalid`, unless it is a transaction of Kysely.
   */
  within(transaction: HostTransaction): DispatchStore
}

/**
 * A store in the host's SQLite, PostgreSQL, MySQL or MariaDB, through Kysely. Any number of processes may share it. It asks the
 * database nothing before it is used: await `migrate()` or `ready()` first.
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
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
 * The statements that `migrate()` runs on an empty database, in its order: for hosts with a migration tool of their own. Run each
 * migration once, in one transaction where the database allows that. Its last statement records it for `ready()` and `migrate()`.
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function sqlStatements(options: Pick<SqlStoreOptions, 'dialect' | 'prefix'>): readonly SqlMigration[] {
  const { dialect, prefix = PREFIX } = readOptions('sqlStatements', options, STATEMENTS)
  return migrationsFor(DIALECTS[dialect], prefix)
}

const PREFIX = 'sallyport_'

/** Enough for a database that has to wake up first. */
const MIGRATING_MS = 60_000

/**
 * The same store. A call that fails because a table, a column or a function is missing throws `config_invalid` with the remedy, and
 * the driver's error as its cause.
 */
function explainingUnmigrated<Store extends object>(store: Store, prefix: string): Store {
  const explained = Object.entries(store).map(([name, call]: [string, (...args: unknown[]) => Promise<unknown>]) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      try {
        return await call(...args)
      } catch (cause) {
        if (!isNoSuchTable(cause) && !isNoSuchFunction(cause)) throw cause
        const problem = `The database is not migrated for this version of the store, whose prefix is "${prefix}".`
        throw notReady(problem, REMEDY, { cause })
      }
    },
  ])
  return Object.fromEntries(explained) as Store
}

/** Notifies the channel in the transaction: listeners hear it at commit, and never after a rollback. */
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
