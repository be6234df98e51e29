import type { CompiledQuery } from 'kysely'
import type { HostKysely } from '../../../src/storage/sql/index.ts'

/** A database that wraps another one: `executeQuery` answers statements outside transactions. */
export function hostBetween(db: HostKysely, executeQuery: HostKysely['executeQuery']): HostKysely {
  return {
    isTransaction: db.isTransaction,
    executeQuery,
    withoutPlugins: () => hostBetween(db.withoutPlugins(), executeQuery),
    connection: () => db.connection(),
  }
}

/** A database that calls `happen` after the first matching statement. */
export function afterOnce(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  let isArmed = true
  return hostBetween(db, async (query) => {
    const result = await db.executeQuery(query)
    if (isArmed && isOf(statement, query)) {
      isArmed = false
      await happen()
    }
    return result
  })
}

/** PostgreSQL gets many statements as a parameter of a function. */
function isOf(statement: RegExp, { sql, parameters }: CompiledQuery): boolean {
  return [sql, ...parameters].some((text) => typeof text === 'string' && statement.test(text))
}
