import type { QueryResult } from 'kysely'
import { withTimeout } from '../../../model/time-out.ts'
import type { Clock } from '../../../ports/clock.ts'
import { storableText } from '../dispatches/delivery-records.ts'
import { functionName, scanStatement } from '../schema/functions.ts'
import { type NameTable, tableNames } from '../schema/name-table.ts'
import type { Changes, TableChange } from './changes.ts'
import { askClock, databaseClock } from './database-clock.ts'
import type { Dialect } from './dialects.ts'
import { type HostKysely, statement } from './host-kysely.ts'
import { Conflict, pause } from './retry-on-conflict.ts'
import { changeParameters, changeText, NOW, partsOf, rowsOf } from './statements.ts'
import { callTimeout, TimedOut } from './timeouts.ts'

export { Conflict }

/** Runs SQL in which {@link NOW} stands for the time of the statement. */
export interface Queries {
  query<Row>(text: string, parameters: readonly unknown[]): Promise<readonly Row[]>
  /** Reads rows along indexes, whatever the statistics say. */
  scan<Row>(text: string, parameters: readonly unknown[]): Promise<readonly Row[]>
  /** Resolves to how many rows it changed. */
  change(text: string, parameters: readonly unknown[]): Promise<number>
}

/** A host's database, as this store uses it. */
export interface Database extends Queries {
  readonly dialect: Dialect
  readonly nameOf: NameTable
  /** What the names of its tables begin with. */
  readonly prefix: string
  /** How long one statement may take, and how long a call may wait before it is begun, in milliseconds. */
  readonly timeoutMs: number
  /** The store's time, epoch milliseconds; never ahead of the database. {@link sync} first. */
  now(): number
  /** The store's time is less than so many milliseconds after {@link now}. */
  uncertaintyMs(): number
  /** Sees to it that the time is known. */
  sync(): Promise<void>
  /** Takes in the time that the database gave, asked for at {@link askedAt}. */
  learn(databaseNow: unknown, askedAt: number): void
  askedAt(): number
  /** Milliseconds of a clock that only runs forward: in a test that decides what time it is, its own. */
  elapsed(): number
  /** Writes all of it or nothing. @throws {Conflict} When something is not as it was read. */
  write(changes: Changes): Promise<void>
  /** Whether what is to be written is to blame, and not the database. */
  isOnesFault(cause: unknown): boolean
  /** All that `work` does, or nothing. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
}

/** How a database is used. */
export interface DatabaseOptions {
  readonly db: HostKysely
  readonly dialect: Dialect
  readonly prefix: string
  readonly timeoutMs: number
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** It is a transaction of the host's: what is undone is undone to a savepoint. */
  readonly isTransaction?: boolean
}

export function openDatabase(options: DatabaseOptions): Database {
  const { dialect, prefix, timeoutMs, clock, isTransaction = false } = options
  const callLimit = callTimeout(timeoutMs)
  const db = options.db.withoutPlugins()
  const nameOf = tableNames(dialect, prefix)
  const running = (): number => performance.now()
  const known = databaseClock(running, () => Date.now())
  const texts = new Map<string, string>()

  /** Built once for each kind of writing: tables and kinds of change are few. */
  function cached(key: string, build: () => string): string {
    let text = texts.get(key)
    if (text === undefined) {
      text = build()
      texts.set(key, text)
    }
    return text
  }

  function timed(text: string): string {
    if (clock) return text.replaceAll(NOW, String(clock.now()))
    return text.includes(NOW) ? cached(text, () => text.replaceAll(NOW, dialect.now)) : text
  }

  /** In a transaction of the host's, others have committed since it began to read. */
  let isBehind = false

  /** Where a transaction goes on seeing what it first saw, only what is locked is read as it is now. */
  function latest(text: string): string {
    return isBehind && text.startsWith('select ') ? `${text}${dialect.readsLatest}` : text
  }

  /**
   * @param mayWait Nothing was begun on it: where others are writing, the statement waits for them.
   * @param mayRetry What failed can be undone by itself, and tried again.
   */
  function queriesOn(executor: Pick<typeof db, 'executeQuery'>, mayWait: boolean, mayRetry = true): Queries {
    async function run<Row>(text: string, parameters: readonly unknown[]): Promise<QueryResult<Row>> {
      const since = performance.now()
      for (let tries = 1; ; tries++) {
        try {
          return await runOnce<Row>(text, parameters)
        } catch (cause) {
          if (!mayWait || !(cause instanceof Conflict) || !isBusy(cause.cause)) throw cause
          if (performance.now() - since > timeoutMs) throw new TimedOut('Others kept the database busy.')
          await pause(tries)
        }
      }
    }
    async function runOnce<Row>(text: string, parameters: readonly unknown[]): Promise<QueryResult<Row>> {
      try {
        return await withTimeout(executor.executeQuery<Row>(statement(latest(timed(text)), [...parameters])), callLimit)
      } catch (cause) {
        if (mayRetry && isConflict(cause)) throw new Conflict('what was read has changed', { cause })
        throw cause
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
        // Some drivers give JSON as it is written.
        return rows.map(({ found }) => (typeof found === 'string' ? JSON.parse(found) : found) as Row)
      },
      async change(text, parameters) {
        return Number((await run(text, parameters)).numAffectedRows ?? 0)
      },
    }
  }

  function isConflict(cause: unknown): boolean {
    return typeof cause === 'object' && cause !== null && dialect.isConflict(cause)
  }

  function isBusy(cause: unknown): boolean {
    return typeof cause === 'object' && cause !== null && dialect.isBusy(cause)
  }

  function isOnesFault(cause: unknown): boolean {
    if (cause instanceof Conflict) return true
    return typeof cause === 'object' && cause !== null && dialect.isRefused(cause)
  }

  // What fails in a transaction of the host's, but not after a savepoint, may have undone all of it.
  const queries = queriesOn(db, !isTransaction, !isTransaction)

  async function undoable<T>(end: string, undo: string, on: Queries, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      await on.change(end, [])
      return result
    } catch (cause) {
      // What cannot be undone was not done: its connection is gone, and with it the transaction.
      await on.change(undo, []).catch(() => {})
      throw cause
    }
  }

  /**
   * What it does may be tried again only while its savepoint is there. After a deadlock, MySQL has undone the whole transaction:
   * what came then would be committed by itself, whatever the host does.
   */
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

  /** All that it reads is as it was at its beginning: what has changed since cannot be read, however often it is tried. */
  async function keepsSnapshot(): Promise<boolean> {
    if (dialect.name !== 'postgresql') return false
    const level = `select 1 where current_setting('transaction_isolation') in ('repeatable read', 'serializable')`
    const found = await queries.query(level, []).catch(() => [1])
    return found.length > 0
  }

  /** Waits for a connection no longer than for a statement: where a pool is used up, nothing is begun later. */
  async function onConnection<T>(work: (connection: Pick<typeof db, 'executeQuery'>) => Promise<T>): Promise<T> {
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
    await withTimeout(Promise.race([begun, done]), callLimit).catch((cause: unknown) => {
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
      // What begins it may be done late, too: it is undone behind that, or the host's statements would follow in it.
      return undoable('commit', 'rollback', on, async () => {
        for (const text of dialect.begin) await patient.change(text, [])
        return work(on)
      })
    })
  }

  async function writeTogether(list: readonly TableChange[], on: Queries): Promise<void> {
    const key = list.map(({ kind, table }) => `${kind} ${table}`).join(', ')
    const text = cached(key, () => {
      const calls = list.map(({ kind, table }, at) => {
        const [rows, amount] = [dialect.parameter(2 * at + 1), dialect.parameter(2 * at + 2)]
        return `${functionName(kind, dialect, prefix)}('${table}', ${rows}, ${amount})`
      })
      // Every write says what time it is: the clock is followed without asking for it.
      return `select ${NOW} as now, ${calls.join(', ')}`
    })
    const parameters = list.flatMap((change) => [rowsOf(change, dialect), change.rows.length])
    const askedAt = running()
    const [row] = await on.query<{ now: unknown }>(text, parameters)
    learn(row?.now, askedAt)
  }

  function learn(databaseNow: unknown, askedAt: number): void {
    if (!clock) known.learn(Number(databaseNow), askedAt)
  }

  async function writeInTurn(list: readonly TableChange[], on: Queries): Promise<void> {
    for (const change of list) {
      for (const part of partsOf(change, dialect)) {
        const { kind, table, rows } = part
        const key = `${kind} ${table} ${dialect.givesValues ? rows.length : ''}`
        const text = cached(key, () => changeText(part, dialect, nameOf, dialect.parameter(1)))
        const changed = await on.change(text, changeParameters(part, dialect))
        if (changed !== rows.length) throw new Conflict(`${kind} of ${changed} rows of ${rows.length}`)
      }
    }
  }

  return {
    ...queries,
    dialect,
    nameOf,
    prefix,
    timeoutMs,
    now: () => (clock ? clock.now() : known.now()),
    uncertaintyMs: () => (clock ? 0 : known.uncertaintyMs()),
    askedAt: running,
    elapsed: () => (clock ? clock.now() : running()),
    learn,
    async sync() {
      if (clock || !known.isStale()) return
      await askClock(known, running, async () => {
        const [row] = await queries.query<{ now: unknown }>(`select ${NOW} as now`, [])
        return Number(row?.now)
      })
    },
    async write(changes) {
      const list = changes.list()
      if (list.length === 0) return
      if (!dialect.hasFunctions) await transaction((on) => writeInTurn(list, on))
      else if (isTransaction) await transaction((on) => writeTogether(list, on))
      else await writeTogether(list, queries)
    },
    isOnesFault,
    transaction,
  }
}
