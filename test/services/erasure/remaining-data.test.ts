import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { jsonFileDocuments } from '../../../docs/examples/documents-json-file.ts'
import { documentStore } from '../../../src/storage/documents/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { eraseAll, erasureApp, fill, PERSON, SECRETS, secretsIn } from './erasing.ts'

const folder = await mkdtemp(join(tmpdir(), 'sallyport-erasure-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const START = Date.UTC(2027, 0, 15, 12)

async function filesIn(path: string): Promise<string> {
  const texts = (await readdir(path)).map((name) => readFile(join(path, name), 'latin1'))
  return (await Promise.all(texts)).join('\n')
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`what remains in ${kind.name}${kind.absent ? `: ${kind.absent}` : ''}`, () => {
    it(`After an erasure, no table of ${kind.name} has a trace of the recipient`, async () => {
      const database = await kind.open()
      try {
        const db = database.connect()
        const clock = fakeClock(START)
        const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
        await store.migrate()
        const app = erasureApp(store, clock)
        const ids = await fill(app)
        const rowsOf = async (table: string): Promise<string> => {
          const { rows } = await db.executeQuery(CompiledQuery.raw(`select * from sallyport_${table}`))
          return JSON.stringify(rows)
        }
        const tables = async (): Promise<string> => (await Promise.all(Object.keys(TABLES).map(rowsOf))).join('\n')
        expect(secretsIn(await tables())).toEqual(SECRETS)
        expect(await eraseAll(app)).toBe(ids.length)
        expect(secretsIn(await tables())).toEqual([])
        expect(await tables()).toContain('grace@example.com')

        const sent = app.email.sent.length
        expect(await app.send('order', PERSON.id, 'order-1')).toBe(ids[0])
        clock.advance(2 * 3_600_000)
        await app.sallyport.worker.runDue()
        expect([...app.email.sent.slice(sent), ...app.sms.sent].map(({ to }) => to)).toEqual(
          Array(2).fill('grace@example.com'),
        )
        await db.destroy()
      } finally {
        await database.close()
      }
    })
  })

describe('what remains in files', () => {
  it('After an erasure and a vacuum, no file of SQLite has a trace of the recipient', async () => {
    const path = join(folder, 'sqlite')
    await mkdir(path)
    const database = new Database(join(path, 'app.db'))
    database.exec('pragma journal_mode = wal')
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
    const clock = fakeClock(START)
    const store = sqlStore({ db, dialect: 'sqlite', clock, timeoutMs: UNHURRIED_MS })
    await store.migrate()
    const app = erasureApp(store, clock)
    await fill(app)
    expect(secretsIn(await filesIn(path))).toEqual(SECRETS)
    await eraseAll(app)
    database.exec('vacuum')
    database.exec('pragma wal_checkpoint(truncate)')
    expect(secretsIn(await filesIn(path))).toEqual([])
    expect(await filesIn(path)).toContain('grace@example.com')
    await db.destroy()
  })

  it('After an erasure, the file of the document store has no trace of the recipient', async () => {
    const path = join(folder, 'documents')
    await mkdir(path)
    const clock = fakeClock(START)
    const file = await jsonFileDocuments(join(path, 'app.json'))
    const app = erasureApp(documentStore({ ...file, now: async () => clock.now() }), clock)
    const ids = await fill(app)
    expect(secretsIn(await filesIn(path)).length).toBeGreaterThan(4)
    expect(await eraseAll(app)).toBe(ids.length)
    expect(secretsIn(await filesIn(path))).toEqual([])
    expect(await filesIn(path)).toContain('grace')
    expect(await app.send('order', PERSON.id, 'order-1')).toBe(ids[0])
  })
})
