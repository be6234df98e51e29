import { readdirSync, readFileSync } from 'node:fs'
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../src/storage/sql/index.ts'
import type { Table } from '../../src/storage/sql/tables/tables.ts'
import { TABLES } from '../../src/storage/sql/tables/tables.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { tablesOf } from './page-tables.ts'

const root = new URL('../../', import.meta.url)
const SQL_STORE = 'docs/storage-sql.md'
const MONITORING = 'docs/monitoring.md'
const page = readFileSync(new URL(MONITORING, root), 'utf8')

/** The rows of all tables of a page whose first column has this head. */
function rowsOf(page: string, head: string): readonly (readonly string[])[] {
  return tablesOf(page, head).flatMap(({ rows }) => rows)
}

function codes(text = ''): readonly string[] {
  return [...text.matchAll(/`([a-z_.]+)`/g)].map(([, code = '']) => code)
}

describe('the guides to monitoring and to the SQL store', () => {
  it('docs/storage-sql.md lists every table with every index', () => {
    const documented = rowsOf(SQL_STORE, 'table').flatMap(([tables = '', indexes]) =>
      codes(tables.replaceAll(/\(.*?\)/g, '')).map((table) => [table, [...codes(indexes)].sort()]),
    )
    const there = Object.entries<Table>(TABLES).map(([name, { indexes }]) => [
      name,
      indexes.map(({ name: own }) => own).sort(),
    ])
    expect(Object.fromEntries(documented)).toEqual({ ...Object.fromEntries(there), migrations: [] })
  })

  it('docs/storage-sql.md lists every kind of records of plugins', () => {
    const documented = rowsOf(SQL_STORE, 'kind').flatMap(([kind]) => codes(kind))
    expect(storedKinds().length).toBeGreaterThan(0)
    expect(documented).toEqual(expect.arrayContaining(storedKinds()))
  })

  it('docs/monitoring.md lists exactly the logged events', () => {
    const documented = rowsOf(MONITORING, 'event').flatMap(([event]) => codes(event))
    expect([...documented].sort()).toEqual([...loggedEvents()].sort())
  })
})

/** Kinds from the source: constants, and names of records to which the name of the plugin is prefixed. */
function storedKinds(): string[] {
  const files = readdirSync(new URL('src/plugins/', root), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.includes('/') && name.endsWith('.ts'),
  )
  const kinds = files.flatMap((file) => {
    const source = readFileSync(new URL(`src/plugins/${file}`, root), 'utf8')
    const [plugin] = file.split('/')
    const named = [...source.matchAll(/recordsOf<\w+>\(core, '([a-z_]+)'/g)].map(([, name]) => `${plugin}.${name}`)
    return [...named, ...[...source.matchAll(/KIND = '([a-z_.]+)'/g)].map(([, kind = '']) => kind)]
  })
  return [...new Set(kinds)]
}

/** Event names from the source; the events of ended attempts are composed there. */
function loggedEvents(): ReadonlySet<string> {
  const ends = ['sent', 'queued', 'failed', 'skipped', 'cancelled', 'lease_lost'].map((end) => `delivery.${end}`)
  const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const sources = files.map((name) => readFileSync(new URL(`src/${name}`, root), 'utf8'))
  const logged = sources.flatMap((source) =>
    [
      ...source.matchAll(
        /(?:\.log\(\s*'(?:debug|info|warn|error)',|logged\(|level: '(?:warn|error)', event:)\s*'([a-z_]+\.[a-z_]+)'/g,
      ),
    ].map(([, event = '']) => event),
  )
  return new Set([...ends, ...logged])
}

describe('the SQL queries of the guide', () => {
  const now = 1_795_248_000_000
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
  afterAll(() => db.destroy())
  const queries = [...page.matchAll(/^```sql\n--[^\n]*\n(select .*?)^```$/gms)].map(([, text = '']) => text)

  it('The SQL queries of docs/monitoring.md give the documented results', async () => {
    let at = now - 120_000
    const store = sqlStore({ db, dialect: 'sqlite', clock: { now: () => at }, timeoutMs: UNHURRIED_MS })
    await store.migrate()
    for (const [id, channel] of Object.entries({ due: 'mail', leased: 'chat', dead: 'text' })) {
      const head = { dispatchId: id, tenant: 't', by: 'app_1', eventType: 'e', recipient: 'r', route: 'all' } as const
      await store.accept({
        dispatch: { ...head, deliveries: [{ deliveryId: id, channel, status: 'queued', address: 'a', content: {} }] },
        expiresInMs: 3_600_000,
        answer: () => ({ ...head, createdAt: '', status: 'queued', duplicate: false, deliveries: [], warnings: [] }),
      })
    }
    await store.claim({ limits: { chat: 1 }, leaseMs: 1_000, busy: [] })
    const [dead] = (await store.claim({ limits: { text: 1 }, leaseMs: 1_000, busy: [] })).deliveries
    await store.settle({ deliveryId: 'dead', fence: dead?.fence ?? '', to: 'failed', reason: 'provider_rejected' })
    await store.mergeRun({ tenant: 't', sessionId: 's', runId: 'r' }, () => ({
      result: undefined,
      state: { sessionId: 's', runId: 'r', latest: {}, tags: [] } as never,
      derived: { ended: ['failed'], pending: ['failed'] },
    }))
    at = now
    expect(await Promise.all(queries.map((text) => runQuery(text, now)))).toEqual([
      [
        { channel: 'chat', due: 1, oldest_seconds: 119 },
        { channel: 'mail', due: 1, oldest_seconds: 120 },
      ],
      [{ ended: 1 }],
      [{ tenant: 't', status: 'failed', dispatches: 1 }],
      [{ pending: 0 }],
    ])
    expect(await runQuery(queries[3] ?? '', now + 600_000)).toEqual([{ pending: 1 }])
  })

  async function runQuery(text: string, by: number): Promise<readonly unknown[]> {
    return (await db.executeQuery(CompiledQuery.raw(text.replaceAll(':now', String(by))))).rows
  }
})
