import type { SqliteDatabase } from 'kysely'
import type Database from 'libsql'

/** A SQLite that reuses its statements: in libsql, one that found the database busy stays open until it runs again. */
export function keptStatements(database: Database.Database): SqliteDatabase {
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare(text) {
      const statement = statements.get(text) ?? database.prepare(text)
      statements.set(text, statement)
      return statement
    },
    close: () => void database.close(),
  }
}
