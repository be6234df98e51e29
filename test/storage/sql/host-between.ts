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

/** A database that calls `happen` after each matching statement. */
export function afterEvery(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  return hostBetween(db, async (query) => {
    const result = await db.executeQuery(query)
    if (isOf(statement, query)) await happen()
    return result
  })
}

/** A database that does so once. */
export function afterOnce(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  return afterEvery(db, statement, once(happen))
}

/** A database that calls `happen` before the first matching statement. */
export function beforeOnce(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  const happenOnce = once(happen)
  return hostBetween(db, async (query) => {
    if (isOf(statement, query)) await happenOnce()
    return db.executeQuery(query)
  })
}

/** PostgreSQL gets many statements as a parameter of a function. */
function isOf(statement: RegExp, { sql, parameters }: CompiledQuery): boolean {
  return [sql, ...parameters].some((text) => typeof text === 'string' && statement.test(text))
}

function once(happen: () => Promise<unknown>): () => Promise<void> {
  let isArmed = true
  return async () => {
    if (!isArmed) return
    isArmed = false
    await happen()
  }
}
