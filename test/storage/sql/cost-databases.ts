import { Kysely, MysqlDialect } from 'kysely'
import { createPool } from 'mysql2'
import { openPostgresql, type TestDatabase } from '../databases.ts'
import { noMariadb, startMariadb } from '../mariadb-server.ts'

/** A database whose reads are counted. */
export interface CountedDatabase extends Omit<TestDatabase, 'idle'> {
  /** Resolves when no dead entry is left that no snapshot sees. */
  purged(): Promise<void>
}

/** A kind of database whose reads are counted. SQLite counts nothing; its plans are tested instead. */
export interface CountedKind {
  readonly name: 'postgresql' | 'mariadb'
  /** The reason why it is not available; absent if it is. */
  readonly absent?: string
  open(): Promise<CountedDatabase>
}

/**
 * Each is a server of the test file alone: on a shared one, the snapshots of others keep dead entries, and their tables drive the
 * statistics of a table out of the cache. If MariaDB is missing, the reason is printed, or with `SALLYPORT_REQUIRE_SERVICES=1` the run fails.
 */
export function countedKinds(): readonly CountedKind[] {
  const absent = noMariadb()
  if (absent && process.env.SALLYPORT_REQUIRE_SERVICES === '1') throw new Error(`required for these tests: ${absent}`)
  if (absent) console.warn(`skipped: ${absent}`)
  return [
    { name: 'postgresql', open: async () => ({ ...(await openPostgresql()), purged: async () => {} }) },
    { name: 'mariadb', open: openMariadb, ...(absent && { absent }) },
  ]
}

/** Purges at once, and does not wait for the disk. */
const SETTINGS = [
  ...['--innodb-purge-rseg-truncate-frequency=1', '--innodb-flush-log-at-trx-commit=0', '--skip-innodb-doublewrite'],
]

async function openMariadb(): Promise<CountedDatabase> {
  const { port, close } = await startMariadb(SETTINGS)
  const at = { host: '127.0.0.1', port, user: 'root', disableEval: true }
  const admin = createPool({ ...at, connectionLimit: 1 })
  const query = (text: string) => admin.promise().query(text)
  await query('create database counted')
  await query('create table counted.nudges (id int primary key, at int)')
  /** The number of the next transaction, and that up to which dead entries are purged. */
  const progress = async (): Promise<readonly [next: number, purged: number]> => {
    const [rows] = await query('show engine innodb status')
    const { Status } = Object(Object(rows)[0])
    const [, next, purged] = /Trx id counter (\d+).*?Purge done for trx's n:o < (\d+)/s.exec(Status) ?? []
    return [Number(next), Number(purged)]
  }
  const opened: Kysely<unknown>[] = []
  return {
    dialect: 'mariadb',
    connect({ connections: connectionLimit = 5, log } = {}) {
      const dialect = new MysqlDialect({ pool: createPool({ ...at, database: 'counted', connectionLimit }) })
      const db = new Kysely<unknown>({ dialect, ...(log && { log }) })
      opened.push(db)
      return db
    },
    async purged() {
      const [end] = await progress()
      for (let at = 0, purged = 0; purged < end; at++) {
        // Each commit wakes the purge.
        await query(`replace into counted.nudges values (1, ${at})`)
        purged = (await progress())[1]
      }
    },
    async close() {
      for (const db of opened) await db.destroy()
      await admin.promise().end()
      await close()
    },
  }
}
