import type { CompiledQuery, QueryResult } from 'kysely'
import { withTimeout } from '../../../model/time-out.ts'
import type { Clock } from '../../../ports/clock.ts'
import { Conflict, pause } from '../../engine/changes.ts'
import { storableText } from '../../engine/stored-texts.ts'
import { systemTimers, TimedOut } from '../../engine/timed-out.ts'
import type { Dialect } from '../dialects/dialects.ts'
import { type NameTable, tableNames } from '../dialects/statements.ts'
import { askClock, databaseClock } from './database-clock.ts'
import { functionName, scanStatement } from './database-functions.ts'
import { prepared } from './prepared-statements.ts'

/** The used part of a host's Kysely instance, for any tables. */
export interface HostKysely {
  readonly isTransaction: boolean
  executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>
  withoutPlugins(): HostKysely
  connection(): { execute<T>(work: (connection: HostKysely) => Promise<T>): Promise<T> }
}

/** A Kysely transaction. */
export type HostTransaction = HostKysely & { readonly isTransaction: true }

/** Placeholder for the time of the statement. */
export const NOW = '{now}'

/** A compiled query, built here so that the store does not load `kysely`. */
export function statement<Row = unknown>(sql: string, parameters: readonly unknown[] = []): CompiledQuery<Row> {
  return { sql, query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] }, parameters, queryId: { queryId: sql } }
}

/** Limits the wait for a database call. The work may still complete; its late result is ignored. */
function limited<T>(work: Promise<T>, ms: number): Promise<T> {
  const fallback = (): never => {
    throw new TimedOut(`The database did not answer within ${ms} ms.`)
  }
  return withTimeout(work, { ms, clock: systemTimers, fallback })
}

/** Runs SQL. Replaces {@link NOW} by the time of the statement. */
export interface Queries {
  query<Row>(text: string, parameters: readonly unknown[]): Promise<readonly Row[]>
  /** Reads rows by index, whatever the statistics are. */
  scan<Row>(text: string, parameters: readonly unknown[]): Promise<readonly Row[]>
  change(text: string, parameters: readonly unknown[]): Promise<number>
}

export interface Database extends Queries {
  readonly dialect: Dialect
  readonly nameOf: NameTable
  readonly prefix: string
  /** Limit for one statement, and for the wait of a call before it begins, in milliseconds. */
  readonly timeoutMs: number
  /** Epoch milliseconds, never ahead of the database. Call {@link sync} first. */
  now(): number
  /** Upper bound of the delay of {@link now} in milliseconds. */
  uncertaintyMs(): number
  /** Asks the database for its time if the known time is too old. */
  sync(): Promise<void>
  learn(databaseNow: unknown, askedAt: number): void
  askedAt(): number
  /** Monotonic milliseconds; the given clock if a test has one. */
  elapsed(): number
  /** Whether the database refused the written values: its state did not cause the error. */
  isRefusal(cause: unknown): boolean
  /** It is in a transaction of the host. */
  readonly isTransaction: boolean
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
}

export interface DatabaseOptions {
  readonly db: HostKysely
  readonly dialect: Dialect
  readonly prefix: string
  readonly timeoutMs: number
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** `db` is the host's transaction: the store rolls back to a savepoint. */
  readonly isTransaction?: boolean
  /** Statements with parameters are prepared once for each connection. Default: false. */
  readonly preparedStatements?: boolean | undefined
}

type Executor = Pick<HostKysely, 'executeQuery'>

export function openDatabase(options: DatabaseOptions): Database {
  const { dialect, prefix, timeoutMs, clock, isTransaction = false, preparedStatements = false } = options
  const db = options.db.withoutPlugins()
  const nameOf = tableNames(dialect, prefix)
  const running = (): number => performance.now()
  const known = databaseClock(running, () => Date.now())
  const texts = new Map<string, string>()
  /** The host's snapshot may miss later commits. */
  let isBehind = false

  function timed(text: string): string {
    if (clock) return text.replaceAll(NOW, String(clock.now()))
    if (!text.includes(NOW)) return text
    const known = texts.get(text) ?? text.replaceAll(NOW, dialect.now)
    texts.set(text, known)
    return known
  }

  /** In a transaction that keeps its first snapshot, only a locking read sees the latest rows. */
  function latest(text: string): string {
    return isBehind && text.startsWith('select ') ? `${text}${dialect.readsLatest}` : text
  }

  function errorIs(test: 'isConflict' | 'isBusy' | 'isRefused', cause: unknown): boolean {
    return typeof cause === 'object' && cause !== null && dialect[test](cause)
  }

  /**
   * @param mayWait The statement is retried while the database is busy: it begins or commits a transaction, or is alone.
   * @param mayRetry A failed statement can be undone alone and retried.
   */
  function queriesOn(executor: Executor, mayWait: boolean, mayRetry = true): Queries {
    async function run<Row>(text: string, parameters: readonly unknown[]): Promise<QueryResult<Row>> {
      const since = performance.now()
      for (let tries = 1; ; tries++) {
        try {
          const sql = latest(timed(text))
          const isPrepared = preparedStatements && parameters.length > 0
          const compiled = statement<Row>(isPrepared ? prepared(sql) : sql, [...parameters])
          return await limited(executor.executeQuery(compiled), timeoutMs)
        } catch (cause) {
          if (!mayRetry || !errorIs('isConflict', cause)) throw cause
          if (!mayWait || !errorIs('isBusy', cause)) throw new Conflict('what was read has changed', { cause })
          if (performance.now() - since > timeoutMs) throw new TimedOut('Others kept the database busy.')
          await pause(tries)
        }
      }
    }
    async function query<Row>(text: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
      return (await run<Row>(text, parameters)).rows
    }
    return {
      query,
      async scan<Row>(text: string, parameters: readonly unknown[]) {
        if (!dialect.hasFunctions) return query<Row>(text, parameters)
        const call = `select found from ${functionName('scan', dialect, prefix)}(${dialect.parameter(1)}, ${dialect.parameter(2)})`
        const given = JSON.stringify(parameters.map((one) => (typeof one === 'string' ? storableText(one) : one)))
        const rows = await query<{ readonly found: unknown }>(call, [scanStatement(timed(text), parameters), given])
        // Some drivers return JSON as text.
        return rows.map(({ found }) => (typeof found === 'string' ? JSON.parse(found) : found) as Row)
      },
      async change(text, parameters) {
        return Number((await run(text, parameters)).numAffectedRows ?? 0)
      },
    }
  }

  // In the host's transaction, a failure outside a savepoint may have undone everything.
  const queries = queriesOn(db, !isTransaction, !isTransaction)

  /** Retries only while the savepoint exists: a deadlock makes MySQL roll back the whole transaction. */
  async function afterSavepoint<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    await queries.change('savepoint sallyport', [])
    try {
      const result = await work(queriesOn(db, false))
      await queries.change('release savepoint sallyport', [])
      return result
    } catch (cause) {
      isBehind = true
      await queries.change('rollback to savepoint sallyport', []).catch(() => {
        throw new Error('the transaction was undone by the database', { cause })
      })
      if (cause instanceof Conflict && (await keepsSnapshot())) throw cause.cause
      throw cause
    }
  }

  /** Whether the transaction never sees later commits, so that a retry cannot help. */
  async function keepsSnapshot(): Promise<boolean> {
    if (dialect.keepsSnapshot === undefined) return false
    const found = await queries.query(dialect.keepsSnapshot, []).catch(() => [1])
    return found.length > 0
  }

  /** Waits for a connection at most as long as for a statement. A late connection is not used. */
  async function onConnection<T>(work: (connection: Executor) => Promise<T>): Promise<T> {
    let isLate = false
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const done = db.connection().execute(async (connection) => {
      if (isLate) throw new TimedOut('A connection came too late.')
      begin()
      return work(connection)
    })
    await limited(Promise.race([begun, done]), timeoutMs).catch((cause: unknown) => {
      isLate = true
      done.catch(() => {})
      throw cause
    })
    return done
  }

  async function transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    if (isTransaction) return afterSavepoint(work)
    return onConnection(async (connection) => {
      const patient = queriesOn(connection, true)
      const on = queriesOn(connection, false)
      try {
        for (const text of dialect.begin) await patient.change(text, [])
        const result = await work(on)
        // A SQLite file without WAL is busy while others read. New readers wait for a commit that is retried, but not for a new transaction.
        await patient.change('commit', [])
        return result
      } catch (cause) {
        // Also undoes a `begin` that timed out and completes late. If the rollback fails, the connection is lost.
        await on.change('rollback', []).catch(() => {})
        throw cause
      }
    })
  }

  function learn(databaseNow: unknown, askedAt: number): void {
    if (!clock) known.learn(Number(databaseNow), askedAt)
  }

  return {
    ...queries,
    ...{ dialect, nameOf, prefix, timeoutMs, isTransaction, learn, transaction },
    now: () => (clock ? clock.now() : known.now()),
    uncertaintyMs: () => (clock ? 0 : known.uncertaintyMs()),
    askedAt: running,
    elapsed: () => (clock ? clock.now() : running()),
    async sync() {
      if (clock || !known.isStale()) return
      await askClock(known, running, async () => {
        const [row] = await queries.query<{ now: unknown }>(`select ${NOW} as now`, [])
        return Number(row?.now)
      })
    },
    isRefusal: (cause) => errorIs('isRefused', cause),
  }
}
