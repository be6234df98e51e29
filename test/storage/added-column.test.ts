import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { documentRecords } from '../../src/storage/documents/document-records.ts'
import { Changes } from '../../src/storage/engine/changes.ts'
import type { Kind, RecordOf } from '../../src/storage/engine/kinds.ts'
import type { Records } from '../../src/storage/engine/records.ts'
import { memoryRecords } from '../../src/storage/memory/memory-records.ts'
import { openDatabase } from '../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../src/storage/sql/dialects/dialects.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { sqlRecords } from '../../src/storage/sql/sql-records.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds } from './databases.ts'
import { mapDocuments } from './documents/map-documents.ts'
import { acceptance, claim, lease } from './storing.ts'

const docs = vi.hoisted(() => ({ line: { name: '', words: '' } }))

vi.mock('../../src/storage/engine/declarations.ts', async (original) => {
  const text = readFileSync(new URL('../../docs/storage.md', import.meta.url), 'utf8')
  const [, name = '', words = ''] = /## To add a column[\s\S]*?```typescript\n(\w+): '([^']+)',\n```/.exec(text) ?? []
  docs.line = { name, words }
  const { KINDS } = await original<{ readonly KINDS: Record<string, { readonly columns: object }> }>()
  const jobs = { ...KINDS.jobs, columns: { ...KINDS.jobs?.columns, [name]: words } }
  return { KINDS: { ...KINDS, jobs } }
})

vi.mock('../../src/storage/sql/tables/migration-names.ts', async (original) => {
  const module = await original<{ readonly MIGRATION_NAMES: readonly string[] }>()
  return { ...module, MIGRATION_NAMES: [...module.MIGRATION_NAMES, '0002_hint'] }
})

/** Stores a job with the column, changes it, and removes the job. */
async function expectKept(records: Records): Promise<void> {
  const { name } = docs.line
  const job = {
    ...{
      delivery_id: 'd',
      dispatch_id: 'e',
      tenant: 't',
      channel: 'a',
      priority: 1,
      concurrency_key: null,
      wake_at: 1,
    },
    ...{ waits_for: null, expires_at: 9, fence: null, attempt: 0, begun: [], version: 1 },
  } satisfies RecordOf<'jobs'>
  const commit = async (change: (changes: Changes) => void): Promise<void> => {
    const changes = new Changes()
    change(changes)
    await changes.commit(records)
  }
  const due = { kind: 'jobs' as Kind, index: 'due', with: [['a', 1]], limit: 9 }
  await commit((changes) => changes.insert('jobs', { ...job, [name]: 'first' }))
  expect((await records.scan(due)).found[0]?.record).toMatchObject({ [name]: 'first', version: 1 })
  await commit((changes) => changes.update('jobs', { ...job, [name]: 'second' }))
  expect((await records.read([{ kind: 'jobs', with: [['d']] }])).jobs?.[0]).toMatchObject({
    [name]: 'second',
    version: 2,
  })
  await commit((changes) => changes.update('jobs', { ...job, version: 2, ...{ [name]: null } }))
  expect((await records.scan(due)).found[0]?.record).toMatchObject({ [name]: null, version: 3 })
  await commit((changes) => changes.remove('jobs', { delivery_id: 'd', version: 3 }))
}

describe('the column that the documentation adds', () => {
  it('Memory and documents keep it', async () => {
    await expectKept(memoryRecords(fakeClock()))
    await expectKept(documentRecords(mapDocuments(fakeClock())))
    expect(docs.line).toEqual({ name: 'hint', words: 'key optional since 2' })
  })
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`the column that the documentation adds, in ${kind.name}`, () => {
    it('A migration brings it, records keep it, and deliveries are sent', async () => {
      const database = await kind.openEmpty()
      const db = database.connect()
      const clock = fakeClock()
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      expect((await store.pendingMigrations()).map(({ name }) => name)).toEqual(['0001_tables', '0002_hint'])
      await store.migrate()
      await store.ready()
      const dialect = DIALECTS[kind.name]
      await expectKept(sqlRecords(openDatabase({ db, dialect, prefix: 'sallyport_', timeoutMs: UNHURRIED_MS, clock })))
      await store.accept(acceptance('d'))
      const [claimed] = (await claim(store)).deliveries
      if (!claimed) throw new Error('nothing was due')
      expect(await store.settle({ ...lease(claimed), to: 'sent', attempt: { outcome: 'sent' } })).toMatchObject({
        live: true,
      })
      await database.close()
    })
  })
