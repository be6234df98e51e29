import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { keptStatements } from '../../support/kept-statements.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { acceptance } from '../storing.ts'

const folder = await mkdtemp(join(tmpdir(), 'sallyport-busy-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

it('A commit waits for readers of a SQLite file without WAL', async () => {
  const path = join(folder, 'rollback.db')
  const reader = new Database(path, { timeout: 0 })
  let commits = 0
  let transactions = 0
  const db = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: keptStatements(new Database(path, { timeout: 0 })) }),
    log({ query: { sql }, level }) {
      if (sql.startsWith('begin')) transactions++
      if (sql !== 'commit' || ++commits < 3) return
      if (level === 'error' && reader.inTransaction) reader.exec('rollback')
    },
  })
  const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
  await store.migrate()
  commits = 0
  transactions = 0
  reader.exec('begin')
  reader.prepare('select count(*) from sallyport_dispatches').get()
  expect(
    await store.accept(acceptance('A', {}, { idempotency: { key: 'k', fingerprint: 'f', ttlMs: 1_000 } })),
  ).toMatchObject({
    outcome: 'accepted',
  })
  expect({ commits, transactions }).toEqual({ commits: 4, transactions: 1 })
  expect(await store.findDispatch('default', 'A')).toBeDefined()
  await db.destroy()
  reader.close()
})
