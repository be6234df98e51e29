import { fitting, type SqliteDatabase } from './sqlite.ts'

interface NodeStatement {
  all(...parameters: readonly unknown[]): unknown[]
  run(...parameters: readonly unknown[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
  columns(): readonly unknown[]
}

/** The part that is used; the types for Node 20 lack it. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => { prepare(sql: string): NodeStatement; close(): void }
}

/** Opens the SQLite of Node 22 and later, and of Deno. */
export async function nodeSqlite(): Promise<() => SqliteDatabase> {
  const { DatabaseSync }: NodeSqlite = await import('node:sqlite' as string)
  return () => fitting(new DatabaseSync(':memory:'), (statement) => statement.columns().length)
}
