import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Kind, RecordOf } from '../../src/storage/engine/kinds.ts'
import type { Records } from '../../src/storage/engine/records.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds } from './databases.ts'
import { mapDocuments } from './documents/map-documents.ts'
import { acceptance, claim, lease } from './storing.ts'

const DOCS = readFileSync(new URL('../../docs/storage.md', import.meta.url), 'utf8')
const [, NAME = '', WORDS = ''] = /## To add a column[\s\S]*?```typescript\n(\w+): '([^']+)',\n```/.exec(DOCS) ?? []
const DECLARATIONS = '../../src/storage/engine/declarations.ts'
const MIGRATIONS = '../../src/storage/sql/tables/migration-names.ts'

// Modules of other tests do not have the column.
beforeAll(() => {
  vi.resetModules()
  vi.doMock(DECLARATIONS, async (original) => {
    const { KINDS } = await original<{ readonly KINDS: Record<string, { readonly columns: object }> }>()
    const jobs = { ...KINDS.jobs, columns: { ...KINDS.jobs?.columns, [NAME]: WORDS } }
    return { KINDS: { ...KINDS, jobs } }
  })
  vi.doMock(MIGRATIONS, async (original) => {
    const module = await original<{ readonly MIGRATION_NAMES: readonly string[] }>()
    return { ...module, MIGRATION_NAMES: [...module.MIGRATION_NAMES, '0003_hint'] }
  })
})
afterAll(() => {
  vi.doUnmock(DECLARATIONS)
  vi.doUnmock(MIGRATIONS)
  vi.resetModules()
})

/** Stores a job with the column, changes it, and removes the job. */
async function expectKept(records: Records): Promise<void> {
  const { Changes } = await import('../../src/storage/engine/changes.ts')
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
  const commit = async (change: (changes: InstanceType<typeof Changes>) => void): Promise<void> => {
    const changes = new Changes()
    change(changes)
    await changes.commit(records)
  }
  const due = { kind: 'jobs' as Kind, index: 'due', with: [['a', 1]], limit: 9 }
  await commit((changes) => changes.insert('jobs', { ...job, [NAME]: 'first' }))
  expect((await records.scan(due)).found[0]?.record).toMatchObject({ [NAME]: 'first', version: 1 })
  await commit((changes) => changes.update('jobs', { ...job, [NAME]: 'second' }))
  expect((await records.read([{ kind: 'jobs', with: [['d']] }])).jobs?.[0]).toMatchObject({
    [NAME]: 'second',
    version: 2,
  })
  await commit((changes) => changes.update('jobs', { ...job, version: 2, ...{ [NAME]: null } }))
  expect((await records.scan(due)).found[0]?.record).toMatchObject({ [NAME]: null, version: 3 })
  await commit((changes) => changes.remove('jobs', { delivery_id: 'd', version: 3 }))
}

describe('the column that the documentation adds', () => {
  it('Memory and documents keep it', async () => {
    expect([NAME, WORDS]).toEqual(['hint', 'key optional since 3'])
    const { memoryRecords } = await import('../../src/storage/memory/memory-records.ts')
    await expectKept(memoryRecords(fakeClock()))
    const { documentRecords } = await import('../../src/storage/documents/document-records.ts')
    await expectKept(documentRecords(mapDocuments(fakeClock())))
  })
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`the column that the documentation adds, in ${kind.name}`, () => {
    it('A migration brings it, records keep it, and deliveries are sent', async () => {
      const { sqlStore } = await import('../../src/storage/sql/index.ts')
      const { sqlRecords } = await import('../../src/storage/sql/sql-records.ts')
      const { openDatabase } = await import('../../src/storage/sql/connection/database.ts')
      const { DIALECTS } = await import('../../src/storage/sql/dialects/dialects.ts')
      const database = await kind.openEmpty()
      const db = database.connect()
      const clock = fakeClock()
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      expect((await store.pendingMigrations()).map(({ name }) => name)).toEqual([
        '0001_tables',
        '0002_plugins',
        '0003_hint',
      ])
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
