/** The part that is used. */
declare module 'bun:sqlite' {
  interface Statement {
    readonly columnNames: readonly string[]
    all(...parameters: readonly unknown[]): unknown[]
    run(...parameters: readonly unknown[]): {
      readonly changes: number
      readonly lastInsertRowid: number | bigint
    }
    iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
  }

  export class Database {
    constructor(path: string)
    prepare(sql: string): Statement
    close(): void
  }
}
