import type { HostKysely } from '../../src/storage/sql/host-kysely.ts'

/** A database that lets something happen once, just after a statement has been answered. */
export function afterOnce(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  let isArmed = true
  return {
    isTransaction: db.isTransaction,
    async executeQuery(query) {
      const result = await db.executeQuery(query)
      if (isArmed && statement.test(query.sql)) {
        isArmed = false
        await happen()
      }
      return result
    },
    withoutPlugins: () => afterOnce(db.withoutPlugins(), statement, happen),
    connection: () => db.connection(),
  }
}
