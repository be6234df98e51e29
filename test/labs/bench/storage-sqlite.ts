import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { sqlStore } from 'sallyport/storage/sql'
import { keptStatements } from '../../support/kept-statements.ts'
import { accepted } from './storage-accept.ts'
import { inFlight, sideBySide } from './storage-measure.ts'
import { acceptance, bareInserts, bareRows } from './storage-rows.ts'

/** The same on SQLite, whose driver blocks the process in every call. */
export async function benchSqlite(): Promise<void> {
  for (const synchronous of ['full', 'normal']) {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    try {
      await compare(folder, synchronous)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function open(path: string, synchronous: string): Database.Database {
  const database = new Database(path)
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`)
  return database
}

async function compare(folder: string, synchronous: string): Promise<void> {
  const kysely = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: keptStatements(open(join(folder, 'store.db'), synchronous)) }),
  })
  const store = sqlStore({ db: kysely, dialect: 'sqlite' })
  await store.migrate()
  // Tables with the same schema.
  const other = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: open(join(folder, 'bare.db'), synchronous) }),
  })
  await sqlStore({ db: other, dialect: 'sqlite', prefix: 'bare_' }).migrate()
  await other.destroy()
  const bare = open(join(folder, 'bare.db'), synchronous)
  const texts = bareInserts('bare_', () => '?')
  const inserts = texts.map((text) => bare.prepare(text))
  const [begin, commit] = [bare.prepare('begin immediate'), bare.prepare('commit')]

  async function byHand(): Promise<void> {
    const rows = bareRows(acceptance())
    bare.prepare('begin immediate').run()
    for (const [at, text] of texts.entries()) bare.prepare(text).run(...(rows[at] ?? []))
    bare.prepare('commit').run()
  }

  async function byHandPrepared(): Promise<void> {
    const rows = bareRows(acceptance())
    begin.run()
    for (const [at, statement] of inserts.entries()) statement.run(...(rows[at] ?? []))
    commit.run()
  }

  try {
    for (const places of [50, 1]) {
      const amount = places === 1 ? 500 : 2_000
      await sideBySide(`SQLite, WAL, synchronous = ${synchronous}: accept, ${places} in flight`, 7, {
        store: () => inFlight(amount, places, () => accepted(store)),
        'bare libsql: begin, 3 inserts, commit': () => inFlight(amount, places, byHand),
        'the same, prepared once': () => inFlight(amount, places, byHandPrepared),
      })
    }
  } finally {
    await kysely.destroy()
    bare.close()
  }
}
