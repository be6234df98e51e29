import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { openSqlite, type TestDatabase } from '../../storage/databases.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { ADA, about, consentApp } from './consenting.ts'

const GRACE = 'grace@example.com'

/** Members of the bodies that may hold data of a person, which an erasure removes. A keyed hash of an address is none. */
const PERSONAL: Readonly<Record<string, readonly string[]>> = { preferences: ['preferences'] }

/** Members that remain after an erasure: none has data of a person. Every member is here, or is personal. */
const REMAINING: Readonly<Record<string, readonly string[]>> = {
  suppressions: ['tenant', 'channel', 'reason', 'source', 'createdAt'],
  preferences: ['tenant'],
  feedback: ['channel', 'kind', 'at', 'code', 'addressKey'],
}

describe('personal members of plugin records', () => {
  let database: TestDatabase
  let db: ReturnType<TestDatabase['connect']>
  beforeAll(async () => {
    database = await openSqlite()
    db = database.connect()
  })
  afterAll(() => database.close())

  async function rowsOf(kind: string) {
    const text = `select * from sallyport_plugin_records where kind = '${kind}'`
    const { rows } = await db.executeQuery<{ readonly body: string }>(CompiledQuery.raw(text))
    return rows.map(({ body, ...columns }) => ({ columns, body: JSON.parse(body) as Record<string, unknown> }))
  }

  it('Records hold data of a person in members that are declared personal only, and an erasure removes these', async () => {
    const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
    const store = sqlStore({ db, dialect: 'sqlite', clock, timeoutMs: UNHURRIED_MS })
    await store.migrate()
    const app = consentApp({ store: () => store, rest: { clock } })
    for (const recipient of [ADA, GRACE]) {
      const dispatch = await app.sallyport.dispatches.get(await app.send('order', recipient))
      const [{ deliveryId } = {}] = dispatch?.deliveries ?? []
      const data = about(deliveryId, { to: [recipient], bounce: { type: 'Permanent', message: `No ${recipient}` } })
      expect((await app.report({ type: 'email.bounced', data })).status).toBe(200)
      await app.sallyport.preferences.set(recipient, { channels: { email: false } })
    }
    await app.sallyport.stop({ graceMs: 0 })

    for (const [kind, remaining] of Object.entries(REMAINING)) {
      const rows = await rowsOf(kind)
      const known = [...remaining, ...(PERSONAL[kind] ?? [])]
      const unknown = rows.flatMap(({ body }) => Object.keys(body).filter((member) => !known.includes(member)))
      expect([kind, unknown]).toEqual([kind, []])
      expect([kind, rows.length > 0]).toEqual([kind, true])
      const others = rows.map(({ columns, body }) => [columns, remaining.map((member) => body[member])])
      expect(JSON.stringify(others)).not.toMatch(/ada|grace/i)
    }

    const personalRows = async () => (await Promise.all(Object.keys(PERSONAL).map(rowsOf))).map((rows) => rows.length)
    const before = await personalRows()
    await app.sallyport.dispatches.erase({ recipient: ADA })
    expect(await personalRows()).toEqual(before.map((count) => count / 2))
    await app.sallyport.dispatches.erase({ recipient: GRACE })
    expect(await personalRows()).toEqual(before.map(() => 0))
  })
})
