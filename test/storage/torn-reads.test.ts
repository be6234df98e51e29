import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Dispatch } from '../../src/model/dispatch.ts'
import type { HostKysely } from '../../src/storage/sql/host-kysely.ts'
import { type SqlStore, sqlStore } from '../../src/storage/sql.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { afterOnce } from './after-once.ts'
import { databaseKinds, type TestDatabase } from './databases.ts'
import { acceptance, delivery, digested } from './storing.ts'

/** A database that lets something happen every time that such a statement has been answered. */
function afterEvery(db: HostKysely, statement: RegExp, happen: () => Promise<unknown>): HostKysely {
  return {
    isTransaction: db.isTransaction,
    async executeQuery(query) {
      const result = await db.executeQuery(query)
      if (statement.test(query.sql)) await happen()
      return result
    },
    withoutPlugins: () => afterEvery(db.withoutPlugins(), statement, happen),
    connection: () => db.connection(),
  }
}

/** The first reading of which events there are: the dispatches have been read, what they share has not. */
const EVENTS = /digest_events\W e where e\.delivery_id in/

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`what is read of ${kind.name} while others write`, () => {
    let database: TestDatabase
    let db: HostKysely
    let clock: FakeClock
    let other: SqlStore
    let stores = 0
    beforeAll(async () => {
      database = await kind.open()
      db = database.connect()
    }, 120_000)
    afterAll(() => database.close())
    beforeEach(async () => {
      clock = fakeClock()
      stores++
      other = storeOver(db)
      await other.migrate()
    })

    function storeOver(host: HostKysely): SqlStore {
      const { dialect } = database
      return sqlStore({
        db: host,
        dialect,
        prefix: `s${stores}_`,
        timeoutMs: 20_000,
        clock: { now: () => clock.now() },
      })
    }

    const statuses = ({ deliveries }: Dispatch): readonly string[] => deliveries.map(({ status }) => status)

    it('is a digest in the dispatch that leaves it, and in the one that keeps it', async () => {
      for (const id of ['A', 'B'])
        await other.accept(acceptance(id, { createdAt: clock.now(), deliveries: [digested(`${id}-a`)] }))
      const found = storeOver(afterOnce(db, EVENTS, () => other.cancel('default', 'A')))
      expect(statuses((await found.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled'])
      const listed = storeOver(afterOnce(db, EVENTS, () => other.cancel('default', 'B')))
      const { items } = await listed.listDispatches({ tenant: 'default', limit: 9, first: 'oldest' })
      expect(items.map(statuses)).toEqual([['cancelled'], ['cancelled']])
      expect(items).toEqual((await other.listDispatches({ tenant: 'default', limit: 9, first: 'oldest' })).items)
    })

    it('is all that was decided of a dispatch, or nothing of it', async () => {
      const deliveries = [delivery('A-a'), digested('A-b')]
      await other.accept(acceptance('A', { deliveries }))
      const store = storeOver(afterOnce(db, EVENTS, () => other.cancel('default', 'A')))
      expect(statuses((await store.findDispatch('default', 'A')) as Dispatch)).toEqual(['cancelled', 'cancelled'])
    })

    it('is something, however much is written', async () => {
      const joining = (id: string) => acceptance(id, { deliveries: [digested(`${id}-a`, { max: 1_000 })] })
      await other.accept(joining('A'))
      let joined = 0
      const store = storeOver(afterEvery(db, EVENTS, () => other.accept(joining(`more-${joined++}`))))
      expect(statuses((await store.findDispatch('default', 'A')) as Dispatch)).toEqual(['queued'])
      expect(joined).toBeGreaterThan(2)
    })
  })
