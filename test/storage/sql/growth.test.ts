import { afterEach, describe, expect, it } from 'vitest'
import type { Column } from '../../../src/storage/engine/columns.ts'
import { openDatabase } from '../../../src/storage/sql/connection/database.ts'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { definitions } from '../../../src/storage/sql/schema/definitions.ts'
import { migrate } from '../../../src/storage/sql/schema/migrate.ts'
import { migrationsFor, SCHEMA, type Schema } from '../../../src/storage/sql/schema/migrations.ts'
import { checkReadiness } from '../../../src/storage/sql/schema/readiness.ts'
import type { Table } from '../../../src/storage/sql/tables/tables.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { type DatabaseKind, databaseKinds, type TestDatabase } from '../databases.ts'
import { acceptance, claimOne } from '../storing.ts'
import { grown } from './grown-schema.ts'
import { type AnyKysely, run, shapeOf, storeIn } from './migrating-stores.ts'

const opened: TestDatabase[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

async function open(kind: DatabaseKind): Promise<TestDatabase> {
  const database = await kind.openEmpty()
  opened.push(database)
  return database
}

const NEXT: Schema = grown(SCHEMA)

describe('declared growth', () => {
  it('A column that a later migration adds to a table is optional, because processes of the version before insert rows', () => {
    const wrong = Object.entries<Table>(SCHEMA.tables).flatMap(([table, { columns, since = 1 }]) =>
      Object.entries<Column>(columns).flatMap(([name, column]) =>
        (column.since ?? since) > since && !column.optional ? `${table}.${name}` : [],
      ),
    )
    expect(wrong).toEqual([])
  })

  it('No part comes with a migration that has no name', () => {
    const numbers = Object.values<Table>(SCHEMA.tables).flatMap((table) =>
      [table, ...Object.values<Column>(table.columns), ...table.indexes].map(({ since = 1 }) => since),
    )
    expect(Math.max(...numbers)).toBeLessThanOrEqual(SCHEMA.names.length)
  })

  it.each(Object.keys(DIALECTS) as DialectName[])('On %s, earlier migrations stay as they are', (dialect) => {
    const texts = (number: number, { tables }: Schema) => definitions(number, tables, DIALECTS[dialect], 'p_')
    for (const number of SCHEMA.names.keys()) expect(texts(number + 1, NEXT)).toEqual(texts(number + 1, SCHEMA))
  })

  it.each([
    ['sqlite', '', ' if not exists'],
    ['postgresql', ' if not exists', ' if not exists'],
    ['mysql', '', ''],
    ['mariadb', ' if not exists', ' if not exists'],
  ] as const)('On %s, the next migration adds columns, indexes and tables', (dialect, column, index) => {
    const q = DIALECTS[dialect].quote
    const texts = definitions(SCHEMA.names.length + 1, NEXT.tables, DIALECTS[dialect], 'p_')
    const type = DIALECTS[dialect].types.key(200)
    expect(texts.slice(0, 3)).toEqual([
      `alter table ${q('p_dispatches')} add column${column} ${q('next_origin')} ${type}`,
      `alter table ${q('p_jobs')} add column${column} ${q('next_hint')} ${type}`,
      `create index${index} ${q('p_jobs_next')} on ${q('p_jobs')} (${q('channel')}, ${q('next_hint')})`,
    ])
    expect(texts[3]).toMatch(/^create table if not exists .p_next_records. \(/)
  })
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`growth on ${kind.name}`, () => {
    const databaseOn = (db: AnyKysely) =>
      openDatabase({ db, dialect: DIALECTS[kind.name], prefix: 'sallyport_', timeoutMs: UNHURRIED_MS })

    it('The next migration keeps the rows, and gives the tables of a new database', async () => {
      const database = await open(kind)
      const db = database.connect()
      const store = storeIn(database, { db })
      await store.migrate()
      await store.accept(acceptance('d1'))
      await expect(checkReadiness(databaseOn(db), NEXT)).rejects.toThrow(
        `The database has migration ${SCHEMA.names.at(-1)}, but this version needs ${NEXT.names.at(-1)}, which was not made`,
      )
      await migrate(db, databaseOn(db), NEXT)
      await checkReadiness(databaseOn(db), NEXT)
      const rows = await run(db, 'select dispatch_id, next_origin from sallyport_dispatches')
      expect(rows).toEqual([{ dispatch_id: 'd1', next_origin: null }])
      expect((await claimOne(store)).dispatch.dispatchId).toBe('d1')

      const empty = await open(kind)
      const other = empty.connect()
      await migrate(other, databaseOn(other), NEXT)
      expect(columnsOnly(await shapeOf(empty))).toEqual(columnsOnly(await shapeOf(database)))
    })

    it('The next migration can be repeated from its start after it stopped anywhere', async () => {
      const [next] = migrationsFor(DIALECTS[kind.name], 'sallyport_', NEXT).slice(-1)
      const length = definitions(SCHEMA.names.length + 1, NEXT.tables, DIALECTS[kind.name], 'sallyport_').length
      for (let stopped = 0; stopped <= length; stopped++) {
        const database = await open(kind)
        const db = database.connect()
        await storeIn(database, { db }).migrate()
        for (const text of next?.statements.slice(0, stopped) ?? []) await run(db, text)
        await expect(checkReadiness(databaseOn(db), NEXT)).rejects.toThrow('not made, or not to its end')
        await migrate(db, databaseOn(db), NEXT)
        await checkReadiness(databaseOn(db), NEXT)
        expect(await run(db, 'select name from sallyport_migrations order by name')).toEqual(
          NEXT.names.map((name) => ({ name })),
        )
      }
    })

    it.skipIf(kind.name === 'sqlite')('A migration that waits for a transaction lets statements through', async () => {
      const database = await open(kind)
      const db = database.connect()
      const store = storeIn(database, { db })
      await store.migrate()
      await store.accept(acceptance('d1'))
      let migrating: Promise<void> | undefined
      await database
        .connect({ connections: 1 })
        .transaction()
        .execute(async (trx) => {
          await run(trx, 'select * from sallyport_jobs')
          const own = database.connect()
          migrating = migrate(own, databaseOn(own), NEXT)
          while ((await run(db, WAITING[kind.name])).length === 0) await new Promise(setImmediate)
          expect(await store.findDispatch('default', 'd1')).toBeDefined()
          expect((await claimOne(store)).dispatch.dispatchId).toBe('d1')
        })
      await migrating
      await checkReadiness(databaseOn(db), NEXT)
    })
  })

/** Finds a definition that waits for a table. */
const WAITING: Readonly<Record<DialectName, string>> = {
  sqlite: '',
  postgresql: `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'alter table%' and datname = current_database()`,
  mysql: '',
  mariadb: `select 1 from information_schema.processlist where state like '%metadata lock%' and db = database()`,
}

/** Without the order of columns, which differs where a migration added one. */
function columnsOnly(shape: readonly string[]): readonly string[] {
  return shape.filter((line) => !/^table /.test(line)).map((line) => line.toLowerCase())
}
