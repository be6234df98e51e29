import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { type SqlStore, type SqlStoreOptions, sqlStore } from '../../../src/storage/sql/index.ts'
import type { Table } from '../../../src/storage/sql/tables/tables.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import type { TestDatabase } from '../databases.ts'

/** A host's tables, which this file does not know. */
// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
export type AnyKysely = Kysely<any>

/** A store on its own connection or pool. */
export function storeIn(database: TestDatabase, options: Partial<SqlStoreOptions> = {}): SqlStore {
  return sqlStore({ db: database.connect(), dialect: database.dialect, timeoutMs: UNHURRIED_MS, ...options })
}

export async function run<Row = Record<string, unknown>>(db: AnyKysely, text: string): Promise<Row[]> {
  return (await db.executeQuery<Row>(CompiledQuery.raw(text))).rows
}

/** The tables and indexes of the database with their columns, to see what `migrate()` changes. */
export async function shapeOf({ connect, dialect }: TestDatabase): Promise<readonly string[]> {
  const rows = await run<{ readonly line: string }>(connect(), SHAPES[dialect])
  return rows.map(({ line }) => line).sort()
}

const MYSQL_SHAPE = `select concat(table_name, ' ', column_name, ' ', column_type, ' ', is_nullable, ' ', ifnull(collation_name, '')) as line
  from information_schema.columns where table_schema = database()
  union all select concat(table_name, ' ', index_name, ' ', seq_in_index, ' ', column_name)
  from information_schema.statistics where table_schema = database()`

const SHAPES: Readonly<Record<DialectName, string>> = {
  sqlite: `select type || ' ' || name || ' ' || coalesce(sql, '') as line from sqlite_master`,
  postgresql: `select concat(table_name, ' ', column_name, ' ', data_type, ' ', is_nullable, ' ', collation_name) as line
    from information_schema.columns where table_schema = current_schema()
    union all select indexdef from pg_indexes where schemaname = current_schema()`,
  mysql: MYSQL_SHAPE,
  mariadb: MYSQL_SHAPE,
}

/** A fake database with given answers, which records its statements. */
export function fakeDatabase(answer: (text: string) => unknown): { readonly db: AnyKysely; readonly asked: string[] } {
  const asked: string[] = []
  const connection: DatabaseConnection = {
    async executeQuery({ sql }) {
      asked.push(sql)
      const rows = await answer(sql)
      return { rows: Array.isArray(rows) ? rows : [] }
    },
    streamQuery() {
      throw new Error('nothing is streamed')
    },
  }
  const nothing = async (): Promise<void> => {}
  const driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (own) => new SqliteIntrospector(own),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  return { db, asked }
}

/** Answers of a database with all parts of the store, whose prefix is `sallyport_`, to questions about them; `undefined`: to other statements. */
export function answerAboutParts(text: string): readonly unknown[] | undefined {
  if (text.includes('in_column')) {
    return Object.entries<Table>(TABLES).flatMap(([table, { columns }]) =>
      Object.keys(columns).map((in_column) => ({ in_table: `sallyport_${table}`, in_column })),
    )
  }
  if (!text.includes('from pg_proc')) return undefined
  return [...text.matchAll(/'(sallyport_\w+)'/g)].map(([, proname]) => ({ proname }))
}

/** The version text of each kind of database. */
export const VERSIONS: Readonly<Record<DialectName, string>> = {
  sqlite: 'SQLite 3.45.1',
  postgresql: 'PostgreSQL 15.4 (Debian 15.4-1) on x86_64-pc-linux-gnu',
  mysql: '8.0.36-0ubuntu0.22.04.1',
  mariadb: '10.11.6-MariaDB-0+deb12u1',
}
