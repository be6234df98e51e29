import type { CompiledQuery, QueryResult } from 'kysely'

/** A host's Kysely, of any tables: as much of it as the store needs. */
export interface HostKysely {
  readonly isTransaction: boolean
  executeQuery<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>>
  withoutPlugins(): HostKysely
  connection(): { execute<T>(work: (connection: HostKysely) => Promise<T>): Promise<T> }
}

/** A statement as Kysely runs it. Made here, so that the store loads nothing that its host does not hand in. */
export function statement<Row = unknown>(sql: string, parameters: readonly unknown[] = []): CompiledQuery<Row> {
  return { sql, query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] }, parameters, queryId: { queryId: sql } }
}

/** A transaction of it. */
export interface HostTransaction extends HostKysely {
  readonly isTransaction: true
}
