import type { CompiledQuery, QueryResult } from 'kysely'
import type { HostKysely } from '../../../src/storage/sql/index.ts'

/** The statement at which a process is killed, counted from 1, and whether the database still completes it. */
export interface Kill {
  readonly at: number
  readonly when: 'before' | 'after'
}

export interface KilledHost {
  readonly db: HostKysely
  /** Whether the process reached the statement at which it is killed. */
  readonly isDead: boolean
}

/**
 * A database whose process is killed at a statement: that one and all later ones are not sent, or only later ones. The database then rolls
 * back what was not committed, as it does when a connection is lost.
 */
export function killedHost(db: HostKysely, { at, when }: Kill): KilledHost {
  let sent = 0
  let isDead = false

  async function run<Row>(on: Pick<HostKysely, 'executeQuery'>, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    sent += 1
    if (isDead || (sent >= at && when === 'before')) {
      isDead = true
      throw new Error('the process was killed')
    }
    const isLast = sent >= at
    if (isLast) isDead = true
    const result = await on.executeQuery(query)
    if (isLast) throw new Error('the process was killed')
    return result
  }

  const over = (own: HostKysely): HostKysely => ({
    isTransaction: own.isTransaction,
    executeQuery: (query) => run(own, query),
    withoutPlugins: () => over(own.withoutPlugins()),
    connection: () => ({
      execute: (work) =>
        own.connection().execute(async (connection) => {
          try {
            return await work(over(connection))
          } finally {
            if (isDead) await connection.executeQuery(ROLLBACK).catch(() => {})
          }
        }),
    }),
  })

  return {
    db: over(db),
    get isDead() {
      return isDead
    },
  }
}

const ROLLBACK: CompiledQuery = {
  ...{ sql: 'rollback', parameters: [], queryId: { queryId: 'rollback' } },
  query: { kind: 'RawNode', sqlFragments: ['rollback'], parameters: [] },
}
