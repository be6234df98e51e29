import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'

const folder = await mkdtemp(join(tmpdir(), 'sallyport-reader-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

it('A migration of a file without WAL waits for a reader before its first change, and not at its commit', async () => {
  const path = join(folder, 'test.db')
  const reader = new Database(path)
  reader.exec('create table hosts (id integer)')
  reader.exec('begin; select * from hosts')
  const asked: string[] = []
  const busy: string[] = []
  const db = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: new Database(path, { timeout: 0 }) }),
    log({ level, query, ...rest }) {
      asked.push(query.sql)
      if (level === 'error' && 'error' in rest && Object(rest.error).code === 'SQLITE_BUSY') busy.push(query.sql)
    },
  })
  const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
  const migrated = store.migrate()
  await expect.poll(() => busy.length).toBeGreaterThan(1)
  expect(asked.filter((text) => /^(create|insert)/.test(text))).toEqual([])
  reader.exec('commit')
  await migrated
  await store.ready()
  reader.close()
  await db.destroy()
})
