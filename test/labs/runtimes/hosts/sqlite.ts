import { Kysely, SqliteDialect } from 'kysely'

/** The SQLite interface that Kysely requires. */
export type SqliteDatabase = Exclude<ConstructorParameters<typeof SqliteDialect>[0]['database'], () => unknown>

interface Statement {
  all(...parameters: readonly unknown[]): unknown[]
  run(...parameters: readonly unknown[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
}

interface Driver<Prepared extends Statement> {
  prepare(sql: string): Prepared
  close(): void
}

/** Adapts `node:sqlite` or `bun:sqlite`. @param columns Number of columns that a statement returns. */
export function fitting<Prepared extends Statement>(
  driver: Driver<Prepared>,
  columns: (statement: Prepared) => number,
): SqliteDatabase {
  return {
    close: () => driver.close(),
    prepare(sql) {
      const statement = driver.prepare(sql)
      return {
        reader: columns(statement) > 0,
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => statement.run(...parameters),
        iterate: (parameters) => statement.iterate(...parameters),
      }
    },
  }
}

export function kyselyOf(database: SqliteDatabase): Kysely<unknown> {
  return new Kysely({ dialect: new SqliteDialect({ database }) })
}
