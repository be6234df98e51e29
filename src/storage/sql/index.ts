/**
 * A store in SQLite, PostgreSQL, MySQL or MariaDB, over the host's Kysely instance.
 * @module sallyport/storage/sql
 */
import { SallyportError } from '../../errors.ts'
import { bool, choice, like, nowClock, whole } from '../../options/checks.ts'
import { type Check, type Checks, readOptions, required } from '../../options/read-options.ts'
import { kindOf } from '../../options/shown-value.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { engineDispatches } from '../engine/dispatches/engine-dispatches.ts'
import { findUnreadable, type UnreadableRecord } from '../engine/doctor/find-unreadable.ts'
import { repair } from '../engine/doctor/repair.ts'
import { removeKind, type StoredKind, storedKinds } from '../engine/doctor/stored-kinds.ts'
import { storeOf } from '../engine/engine-store.ts'
import { type Database, type HostKysely, type HostTransaction, openDatabase } from './connection/database.ts'
import { explained } from './connection/driver-errors.ts'
import { DIALECTS, type DialectName } from './dialects/dialects.ts'
import { migrate, pendingMigrations } from './schema/migrate.ts'
import { migrationsFor, type SqlMigration } from './schema/migrations.ts'
import { poolerCheck } from './schema/pooler-check.ts'
import { checkReadiness } from './schema/readiness.ts'
import { sqlRecords } from './sql-records.ts'

export type { DialectName, HostKysely, HostTransaction, SqlMigration, StoredKind, UnreadableRecord }

/** Options of {@link sqlStore}. */
export interface SqlStoreOptions {
  /** The host's instance, of any tables. Its plugins have no effect on the store. */
  readonly db: HostKysely
  /** The database: SQLite 3.38, PostgreSQL 12, MySQL 8.0.17, MariaDB 10.6, or newer. `ready()` checks it. */
  readonly dialect: DialectName
  /** Prefix of all table names: letters, digits and underscores, at most 30. Default: `sallyport_`. */
  readonly prefix?: string
  /**
   * Limit for one statement in milliseconds; then the store counts as unavailable. An event, a settlement or a merge waits at most this
   * long to begin, and as long again to complete. 10 to 600,000. Default: 900.
   */
  readonly timeoutMs?: number
  /**
   * With `postgresql`: the channel of the host's `postgresQueue()`, `sallyport_due` unless it was changed. The commit of a transaction
   * that accepted an event then wakes its workers. Default: workers find the event when they next look.
   */
  readonly notify?: string
  /**
   * With `postgresql`, and Kysely's `PostgresDialect` over `pg`: each connection prepares a statement once, which saves the parsing of
   * its later calls. Not behind a pooler in transaction mode, unless it supports prepared statements, as PgBouncer 1.21 does with
   * `max_prepared_statements`: `ready()` checks it. Default: false.
   */
  readonly preparedStatements?: boolean
  /** For tests: the clock that decides when a delivery is due. Default: the database's clock, which all processes share. */
  readonly clock?: Pick<Clock, 'now'>
}

const METHODS = ['executeQuery', 'withoutPlugins', 'connection']

const kysely: Check = (db) => {
  if (METHODS.some((method) => typeof Reflect.get(Object(db), method) !== 'function'))
    return `is ${kindOf(db)}; must be an instance of Kysely: new Kysely({ dialect })`
  return Reflect.get(Object(db), 'isTransaction') === true
    ? 'is a transaction; pass the Kysely that began it, and use within() of the store'
    : undefined
}

const letters = like(/^[A-Za-z0-9_]{1,30}$/, 'must be 1-30 letters, digits and underscores')
const free = like(/^(?!sqlite_)/i, 'must not begin with sqlite_, which SQLite reserves')
const channel = like(
  /^[A-Za-z_][A-Za-z0-9_]{0,62}$/,
  'must be letters, digits and underscores, 63 at most, no digit first',
)

function forPostgresql(check: Check): Check {
  return (value, given) => {
    const { dialect } = given
    const isOther = dialect !== 'postgresql' && Object.hasOwn(DIALECTS, String(dialect))
    return isOther ? `is for postgresql alone; leave it out with ${dialect}` : check(value, given)
  }
}

const STATEMENTS: Checks<Pick<SqlStoreOptions, 'dialect' | 'prefix'>> = {
  dialect: required(choice(Object.keys(DIALECTS))),
  prefix: (value, given) => letters(value, given) ?? free(value, given),
}

const STORE: Checks<SqlStoreOptions> = {
  db: required(kysely),
  ...STATEMENTS,
  timeoutMs: whole(10, 600_000),
  notify: forPostgresql(channel),
  preparedStatements: forPostgresql(bool),
  clock: nowClock,
}

/** A store in a host's database. */
export interface SqlStore extends SallyportStore {
  /**
   * Creates or updates the tables. Await it before the host listens. It is quick if nothing is pending, and several processes may call it
   * concurrently. `timeoutMs` does not limit it.
   * Additions of a newer version are ignored.
   * @throws {SallyportError} As {@link ready}; `config_invalid` also if this version cannot work after a migration of a newer one: the
   * database then stays unchanged. Errors of the driver while tables are created, such as a missing privilege, are thrown unchanged.
   */
  migrate(): Promise<void>
  /**
   * Returns the migrations that {@link migrate} would run, with their statements. It only reads.
   * @throws {SallyportError} As {@link ready}; `config_invalid` also if this version cannot work after a migration of a newer one.
   */
  pendingMigrations(): Promise<readonly SqlMigration[]>
  /**
   * Resolves when the store can be used. It only reads.
   * @throws {SallyportError} With the problem and the remedy. `no_answer`: the database cannot be reached now. `config_invalid`: it is not
   * migrated, a newer version migrated it for itself alone, it lacks a part, is of another kind than `dialect`, or is too old; or a pooler
   * loses `preparedStatements`.
   */
  ready(): Promise<void>
  /**
   * Reads all tables, a thousand rows at a time, for records that cannot be read: `npx sallyport doctor` prints them. `timeoutMs` does not
   * limit it.
   */
  findUnreadable(): AsyncIterable<UnreadableRecord>
  /**
   * Replaces or removes the text of a record of {@link findUnreadable}. A dispatch keeps the outcomes that other records tell; what is lost
   * of it becomes `failed`, `record_unreadable`.
   * @returns `false` if the record has changed since, or a worker is sending its delivery: nothing was changed.
   */
  repair(record: UnreadableRecord): Promise<boolean>
  /** Kinds of records of plugins that are stored, also of plugins that the host has no longer: `npx sallyport doctor` prints these. */
  storedKinds(): Promise<readonly StoredKind[]>
  /**
   * Removes all records of a kind of {@link storedKinds}, of all tenants: `npx sallyport prune --kind`. Resolves to their number. `timeoutMs` does
   * not limit it.
   */
  removeKind(kind: string): Promise<number>
  /**
   * A store within the host's transaction: an order and its notification are committed together, or not at all.
   *
   * Make one call at a time. A refused or repeated event leaves the transaction unchanged. When a call throws (`dispatch()` then answers
   * 503 `store_unavailable`), the host must roll back the transaction: the database may already have done so.
   *
   * On PostgreSQL at `repeatable read` or `serializable`, the store does not see commits since the transaction began. On a conflict with
   * such a commit (a key or a limit that was used concurrently), it throws the database's error (`40001`, `23505`), and the host retries
   * the whole transaction. At `read committed` the store retries itself.
   * @throws {SallyportError} `option_invalid`, unless it is a transaction of Kysely.
   */
  within(transaction: HostTransaction): DispatchStore
}

/**
 * Keeps dispatches and runs in the host's SQLite, PostgreSQL, MySQL or MariaDB, through Kysely. Any number of processes may share it. It
 * runs no query before it is used: await `migrate()` or `ready()` first.
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function sqlStore(options: SqlStoreOptions): SqlStore {
  const { db, dialect, prefix = PREFIX, timeoutMs = 900, notify, ...others } = readOptions('sqlStore', options, STORE)
  const shared = { dialect: DIALECTS[dialect], prefix, clock: others.clock }
  const running = { ...shared, timeoutMs, preparedStatements: others.preparedStatements }
  const database = openDatabase({ db, ...running })
  const patient = (): Database => openDatabase({ db, ...shared, timeoutMs: PATIENT_MS })
  const checkPooler = others.preparedStatements ? poolerCheck(db, timeoutMs) : undefined
  return {
    ...explaining(storeOf(sqlRecords(database)), prefix),
    migrate: () => migrate(db.withoutPlugins(), patient()),
    pendingMigrations: () => pendingMigrations(patient()),
    async ready() {
      await checkReadiness(database)
      await checkPooler?.()
    },
    findUnreadable: () => findUnreadable(sqlRecords(patient())),
    repair: (record) => repair(record, sqlRecords(patient())),
    storedKinds: () => storedKinds(sqlRecords(patient())),
    removeKind: (kind) => removeKind(kind, sqlRecords(patient())),
    within(transaction) {
      if (transaction?.isTransaction !== true) {
        throw new SallyportError(
          'option_invalid',
          'within() takes a transaction of Kysely: pass what db.transaction().execute(…) gives to its callback.',
        )
      }
      const own = openDatabase({ db: transaction, ...running, isTransaction: true })
      const store = explaining(engineDispatches(sqlRecords(own), { isAlone: true }), prefix)
      return notify === undefined ? store : notifying(store, notify, own)
    },
  }
}

/**
 * The statements that `migrate()` runs on an empty database, in order: for hosts with their own migration tool. Run each migration once,
 * in one transaction if the database allows it. Its last statement records it for `ready()` and `migrate()`.
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function sqlStatements(options: Pick<SqlStoreOptions, 'dialect' | 'prefix'>): readonly SqlMigration[] {
  const { dialect, prefix = PREFIX } = readOptions('sqlStatements', options, STATEMENTS)
  return migrationsFor(DIALECTS[dialect], prefix)
}

const PREFIX = 'sallyport_'

/** Long enough for a database that must start first, and for a page of a large table. */
const PATIENT_MS = 60_000

/** A call whose driver fails in a known way throws the problem and the remedy instead, with the driver's error as the cause. */
function explaining<Store extends object>(store: Store, prefix: string): Store {
  const calls = Object.entries(store).map(([name, call]: [string, (...args: unknown[]) => Promise<unknown>]) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      try {
        return await call(...args)
      } catch (cause) {
        throw explained(cause, prefix) ?? cause
      }
    },
  ])
  return { ...store, ...Object.fromEntries(calls) }
}

/** Notifies the channel in the transaction: PostgreSQL sends it at commit, and never after a rollback. */
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
