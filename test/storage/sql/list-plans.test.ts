import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DispatchQuery } from '../../../src/ports/dispatch-query.ts'
import type { RecordQuery } from '../../../src/ports/record-store.ts'
import type { RunQuery } from '../../../src/ports/run-store.ts'
import type { HostKysely } from '../../../src/storage/sql/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { hostBetween } from './host-between.ts'
import {
  FIRST_AT,
  fillDispatches,
  fillRuns,
  fillSessions,
  fillStatistics,
  fillSuppressions,
  fillTokenUses,
} from './list-fill.ts'

const LIMIT = 20
const WANTED = 45
/** The reads of a page: its index rows, one more, and the rows that belong to each. */
const MOST_READ = 8 * (LIMIT + 1)

const LISTED = [
  ...['dispatches', 'states', 'contents', 'jobs', 'listed', 'runs', 'run_tags', 'sessions', 'plugin_records'],
]

/** The state of tables to which their statistics belong. */
type Analyzed = 'empty' | 'drained' | 'full'

const FILLINGS = [fillDispatches, fillRuns, fillSuppressions, fillSessions, fillTokenUses, fillStatistics]

const DISPATCH_FILTERS: readonly Omit<DispatchQuery, 'tenant' | 'limit'>[] = [
  {},
  { status: 'failed' },
  { eventType: 'wanted' },
  { eventType: 'wanted', channel: 'a' },
  { recipient: 'wanted' },
  { sessionId: 'wanted' },
  { until: FIRST_AT + WANTED + 1 },
  { status: 'failed', eventType: 'wanted' },
  { status: 'failed', reason: 'provider_rejected' },
  { eventType: 'wanted', channel: 'a', reason: 'provider_rejected' },
  { status: 'failed', recipient: 'wanted' },
  { sessionId: 'wanted', eventType: 'wanted', until: FIRST_AT + WANTED + 1, since: FIRST_AT },
]

const RUN_FILTERS: readonly Omit<RunQuery, 'limit'>[] = [
  {},
  { status: ['failed'] },
  { status: ['failed', 'running', 'expired'] },
  { status: ['failed', 'completed'], model: 'wanted' },
  { status: ['failed', 'running'], tag: 'wanted', since: FIRST_AT },
  { provider: 'wanted' },
  { model: 'wanted' },
  { userId: 'wanted' },
  { tag: 'wanted' },
  { sessionId: 'wanted' },
  { until: FIRST_AT + WANTED + 1 },
  { status: ['failed'], model: 'wanted', tag: 'wanted' },
]

const timed = (name: string, at: number): string => `${name}${String(at).padStart(16, '0')}`
const ofName = (name: string) => ({ from: timed(name, 0), until: timed(name, Number.MAX_SAFE_INTEGER) })

const RECORD_QUERIES: readonly Omit<RecordQuery, 'limit'>[] = [
  { kind: 'suppressions', tenant: '', by: 1, isReverse: true, ...ofName('1:t') },
  { kind: 'token_uses', tenant: 't', by: 'key', isReverse: false },
  { kind: 'token_uses', tenant: 't', by: 0, isReverse: true },
  { kind: 'token_uses', tenant: 't', by: 1, isReverse: true, ...ofName('6:wanted') },
  { kind: 'token_uses', tenant: 't', by: 2, isReverse: true, ...ofName('6:wanted') },
  { kind: 'token_uses', tenant: 't', by: 3, isReverse: true, ...ofName('7:refused') },
  {
    ...{ kind: 'statistics', tenant: 't', by: 'key', isReverse: false },
    ...{ from: timed('6:minute', FIRST_AT + 500 * 60_000), until: timed('6:minute', FIRST_AT + 600 * 60_000) },
  },
]

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`lists in ${kind.name}`, () => {
    let database: TestDatabase
    let db: ReturnType<TestDatabase['connect']>
    const asked: CompiledQuery[] = []
    beforeAll(async () => {
      database = await kind.open()
      db = database.connect()
    }, 120_000)
    afterAll(() => database.close())

    const run = (text: string) => db.executeQuery(CompiledQuery.raw(text))

    async function analyze(prefix: string): Promise<void> {
      const tables = LISTED.map((table) => `${prefix}${table}`)
      if (kind.name === 'postgresql') for (const table of tables) await run(`analyze ${table}`)
      if (kind.name === 'mariadb') await run(`analyze table ${tables.join(', ')}`)
      if (kind.name === 'sqlite') await run('analyze')
    }

    async function fill(prefix: string, count: number): Promise<void> {
      const filling = { db, dialect: kind.name, prefix, count, wanted: WANTED }
      for (const fillOne of FILLINGS) await fillOne(filling)
    }

    /** A store with rows, whose tables were last analyzed when they were empty, drained or full. */
    async function storeOf(prefix: string, count: number, analyzed: Analyzed) {
      const host: HostKysely = hostBetween(db, (query) => {
        asked.push(query as CompiledQuery)
        return db.executeQuery(query)
      })
      const store = sqlStore({ db: host, dialect: kind.name, prefix, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const unwatched = { postgresql: 'set (autovacuum_enabled = off)', mariadb: 'stats_auto_recalc = 0' }
      const setting = Object.entries(unwatched).find(([name]) => name === kind.name)?.[1]
      for (const table of setting ? LISTED : []) await run(`alter table ${prefix}${table} ${setting}`)
      if (analyzed === 'empty') await analyze(prefix)
      await fill(prefix, count)
      if (analyzed === 'drained') {
        for (const table of LISTED) await run(`delete from ${prefix}${table}`)
        await analyze(prefix)
        await fill(prefix, count)
      }
      if (analyzed === 'full') await analyze(prefix)
      return store
    }

    /** The rows of tables and indexes that the last statements read. */
    async function rowsRead(): Promise<number> {
      let rows = 0
      for (const query of asked.splice(0)) {
        if (kind.name === 'postgresql') rows += await readInPostgresql(query)
        if (kind.name === 'mariadb') rows += await readInMariadb(query)
        if (kind.name === 'sqlite') await checkSqlitePlan(query)
      }
      return rows
    }

    async function readInPostgresql({ sql, parameters }: CompiledQuery): Promise<number> {
      // The reads of a function show in the statistics of its session.
      return db.connection().execute(async (connection) => {
        const read = async (): Promise<number> => {
          await connection.executeQuery(CompiledQuery.raw('select pg_stat_force_next_flush()'))
          const { rows } = await connection.executeQuery<{ amount: string }>(CompiledQuery.raw(READ_IN_POSTGRESQL))
          return Number(rows[0]?.amount)
        }
        const before = await read()
        await connection.executeQuery(CompiledQuery.raw(sql, [...parameters]))
        return (await read()) - before
      })
    }

    async function readInMariadb(query: CompiledQuery): Promise<number> {
      return db.connection().execute(async (connection) => {
        await connection.executeQuery(CompiledQuery.raw('flush status'))
        await connection.executeQuery(query)
        const { rows } = await connection.executeQuery<{ Variable_name: string; Value: string }>(
          CompiledQuery.raw(`show session status like 'Handler_read%'`),
        )
        // This includes temporary tables of a statement.
        return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
      })
    }

    /** SQLite has no counters: its plans must read tables only by an index, and none before the page. */
    async function checkSqlitePlan({ sql, parameters }: CompiledQuery): Promise<void> {
      const { rows } = await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
      )
      // An automatic index on the page means that it reads a table first, and the page for each row.
      for (const { detail } of rows) expect(detail).not.toMatch(/^SCAN [rhdv]\b(?! VIRTUAL)|AUTOMATIC/)
    }

    async function checkRead(what: string, most: number): Promise<void> {
      const rows = await rowsRead()
      const isCounted = kind.name === 'sqlite' || rows >= LIMIT
      expect([what, isCounted, rows <= most ? 'few' : rows]).toEqual([what, true, 'few'])
    }

    it.each([
      [2_000, 'empty'],
      [20_000, 'empty'],
      [20_000, 'drained'],
      [20_000, 'full'],
    ] as const)(
      'A page of a list of %i rows reads only the rows that it needs, with any filter: tables last analyzed when %s',
      async (count, analyzed) => {
        const store = await storeOf(`l${count}${analyzed}_`, count, analyzed)
        for (const first of ['newest', 'oldest'] as const) {
          for (const filter of DISPATCH_FILTERS) {
            asked.length = 0
            const page = await store.listDispatches({ tenant: 't', limit: LIMIT, first, ...filter })
            const what = `${count} ${JSON.stringify(filter)} ${first}`
            expect([what, page.items.length]).toEqual([what, LIMIT])
            await checkRead(what, 3 * MOST_READ)
            const { cursor = page.nextCursor } = {}
            const next = await store.listDispatches({ tenant: 't', limit: LIMIT, first, ...filter, cursor })
            expect([what, next.items.length]).toEqual([what, LIMIT])
            await checkRead(what, 3 * MOST_READ)
          }
          for (const filter of RUN_FILTERS) {
            asked.length = 0
            const page = await store.listRuns({ tenant: 't', limit: LIMIT, first, ...filter })
            const what = `${count} runs ${JSON.stringify(filter)} ${first}`
            expect([what, page.items.length]).toEqual([what, LIMIT])
            await checkRead(what, MOST_READ)
            const next = await store.listRuns({ tenant: 't', limit: LIMIT, first, ...filter, cursor: page.nextCursor })
            expect([what, next.items.length]).toEqual([what, LIMIT])
            await checkRead(what, MOST_READ)
          }
        }
        for (const first of ['newest', 'oldest'] as const)
          for (let cursor: string | undefined, page = 1; page <= 3; page++) {
            asked.length = 0
            const until = FIRST_AT + count - 5
            const { items, nextCursor } = await store.listSessions({ tenant: 't', limit: LIMIT, cursor, first, until })
            expect([count, page, items.length]).toEqual([count, page, LIMIT])
            await checkRead(`page ${page} of ${count} sessions, ${first} first`, MOST_READ)
            cursor = nextCursor
          }
        for (const query of RECORD_QUERIES)
          for (let cursor: string | undefined, page = 1; page <= 2; page++) {
            asked.length = 0
            const { items, nextCursor } = await store.listRecords({ ...query, limit: LIMIT, cursor })
            expect([count, query, page, items.length]).toEqual([count, query, page, LIMIT])
            await checkRead(`page ${page} of ${count} records ${JSON.stringify(query)}`, MOST_READ)
            cursor = nextCursor
          }
      },
      300_000,
    )
  })

/** Rows read by table scans, and entries returned by index scans. */
const READ_IN_POSTGRESQL = `select sum(t.seq_tup_read) + (select sum(i.idx_tup_read) from pg_stat_user_indexes i) as amount
  from pg_stat_user_tables t`
