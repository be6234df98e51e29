import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { tokenFor } from '../../../../src/storage/engine/dispatches/lease-cache.ts'
import { DIALECTS, type DialectName } from '../../../../src/storage/sql/dialects/dialects.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { SCHEMA } from '../../../../src/storage/sql/schema/migrations.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { findRecords } from '../../../support/records.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../../databases.ts'
import { type AnyKysely, run } from '../migrating-stores.ts'
import { appOn, LATER_MS, PLUGIN_RECORDS, START_MS } from './in-flight.ts'
import {
  functionsText,
  migrationText,
  type Rows,
  readRows,
  readStatements,
  schemaFile,
  schemaNumbers,
} from './schema-files.ts'

const NUMBERS = schemaNumbers()
const CHANGED =
  'a migration changed: make a new one, see "To change the schema" in docs/storage.md (before the first release: npx tsx test/storage/sql/schemas/write-schema.ts)'

describe('stored schemas', () => {
  it('Each migration has a stored schema', () => {
    expect(NUMBERS).toEqual(SCHEMA.names.map((name) => name.slice(0, 4)))
  })

  it.each(
    NUMBERS.flatMap((number) => (Object.keys(DIALECTS) as DialectName[]).map((dialect) => [number, dialect] as const)),
  )('Migration %s on %s is as it was', async (number, dialect) => {
    expect(migrationText(number, dialect), CHANGED).toBe(await readFile(schemaFile(number, `${dialect}.sql`), 'utf8'))
  })

  it('The functions of the newest migration are as they were', async () => {
    const file = schemaFile(NUMBERS.at(-1) ?? '', 'postgresql-functions.sql')
    expect(functionsText(), CHANGED).toBe(await readFile(file, 'utf8'))
  })
})

const opened: TestDatabase[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent).each(NUMBERS)(`a database of schema %s on ${kind.name}`, (number) => {
    async function restored() {
      const database = await kind.openEmpty()
      opened.push(database)
      const db = database.connect()
      for (const one of NUMBERS.filter((other) => other <= number))
        for (const text of await readStatements(one, kind.name)) await run(db, text)
      const rows = await readRows(number)
      await insert(rows, db)
      const clock = fakeClock(START_MS)
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      await store.ready()
      return { db, clock, store, rows, app: appOn(store, clock, true) }
    }

    it('All deliveries are sent once after the migration', async () => {
      const { app, clock, store, rows } = await restored()
      expect(rows.jobs?.filter(({ fence }) => fence !== null)).toHaveLength(1)
      expect(rows.members).toHaveLength(2)
      await app.sallyport.worker.runDue()
      clock.advance(LATER_MS)
      await app.sallyport.worker.runDue()
      const { items } = await store.listDispatches({ tenant: 'default', limit: 100 })
      const statuses = items.flatMap(({ deliveries, recipient }) =>
        deliveries.map(({ status, attempts }) => `${recipient} ${status} ${attempts}`),
      )
      expect(statuses.sort()).toEqual([
        ...['ada failed 0', 'ada sent 1', 'ada sent 1', 'ada sent 1', 'ada sent 1', 'ada skipped 0'],
        ...['leased sent 2', 'queued sent 1', 'sent sent 1'],
      ])
      expect(app.email.sent.map(({ to }) => to).sort()).toEqual([
        ...['ada@example.com', 'ada@example.com', 'ada@example.com', 'leased@example.com', 'queued@example.com'],
      ])
      expect(JSON.stringify(app.email.sent)).toContain('For ada')
      await app.sallyport.stop({ graceMs: 0 })
    })

    it('A worker of the version before keeps and settles its lease, and a failed delivery is planned again', async () => {
      const { app, clock, store, rows } = await restored()
      const job = rows.jobs?.find(({ fence }) => fence !== null)
      const deliveryId = String(job?.delivery_id)
      const lease = { deliveryId, fence: tokenFor(deliveryId, String(job?.fence)) }
      expect(await store.renew(lease, 60_000)).toBe(true)
      expect(await store.settle({ ...lease, to: 'sent' })).toMatchObject({ live: true })
      const failed = (await store.listDispatches({ tenant: 'default', status: 'failed', limit: 10 })).items
      expect(failed).toHaveLength(1)
      expect(await app.sallyport.dispatches.retry(failed[0]?.dispatchId ?? '')).toMatchObject({
        retried: [{ channel: 'email' }],
      })
      clock.advance(LATER_MS)
      await app.sallyport.worker.runDue()
      const [again] = (await store.listDispatches({ tenant: 'default', status: 'failed', limit: 10 })).items
      expect(again).toBeUndefined()
      await app.sallyport.stop({ graceMs: 0 })
    })

    it('Runs, keys, tokens and records are read after the migration', async () => {
      const { app, store } = await restored()
      expect(await store.recall('default', 'key-1')).toBeDefined()
      expect(await app.send('order', 'sent', 'key-1')).toBe('dsp_1')
      const { items } = await store.listRuns({ tenant: 'default', limit: 10 })
      expect(items.map(({ state }) => state.runId).sort()).toEqual(['r1', 'r2'])
      expect((await store.listRuns({ tenant: 'default', tag: 'nightly', limit: 10 })).items).toHaveLength(1)
      expect(await store.findSession('default', 's1')).toMatchObject({ sessionId: 's1' })
      expect((await store.listRevocations(0, 10)).map(({ value }) => value)).toEqual(['jti_2'])
      for (const { kind, tenant, key, body, sort } of PLUGIN_RECORDS) {
        expect(await findRecords(store, { kind, tenant }, key)).toMatchObject([{ body }])
        for (const [by, text] of sort.entries())
          expect(await store.findRecords({ kind, by: by as 0, texts: [{ tenant, text: text ?? '' }] })).toMatchObject([
            { key },
          ])
      }
      expect(await store.countUnexpired('heartbeats', 10)).toBe(1)
      await app.sallyport.stop({ graceMs: 0 })
    })

    it('A person is erased after the migration', async () => {
      const { app, db } = await restored()
      await app.sallyport.dispatches.erase({ recipient: 'ada' })
      for (const table of ['dispatches', 'states', 'contents', 'members', 'plan_sources', 'counters'])
        expect([table, JSON.stringify(await run(db, `select * from sallyport_${table}`))]).toEqual([
          table,
          expect.not.stringMatching(/\bada\b/),
        ])
      await app.sallyport.stop({ graceMs: 0 })
    })
  })

async function insert(rows: Rows, db: AnyKysely): Promise<void> {
  for (const [table, list] of Object.entries(rows)) {
    for (const row of list) await db.insertInto(`sallyport_${table}`).values(row).execute()
  }
}
