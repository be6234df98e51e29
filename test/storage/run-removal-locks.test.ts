import { CompiledQuery, type Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RemovalQuery, RunStore } from '../../src/ports/run-store.ts'
import type { HostKysely } from '../../src/storage/sql/host-kysely.ts'
import { sqlStore } from '../../src/storage/sql.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { afterOnce } from './after-once.ts'
import { databaseKinds, type TestDatabase } from './databases.ts'

const REMOVAL = /delete .*runs/s

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined || kind.name === 'sqlite')(`a removal in ${kind.name}`, () => {
    let database: TestDatabase
    let db: Kysely<unknown>
    let clock: FakeClock
    let stores = 0
    beforeAll(async () => {
      database = await kind.open()
      db = database.connect()
    }, 120_000)
    afterAll(() => database.close())
    beforeEach(async () => {
      clock = fakeClock()
      stores++
      const store = storeOver(db)
      await store.migrate()
      for (const runId of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']) {
        const key = { tenant: 't', sessionId: 's', runId }
        await store.mergeRun(key, () => ({ result: undefined, state: { ...EMPTY, ...key } }))
        clock.advance(1)
      }
      clock.advance(10)
    })

    function storeOver(host: HostKysely): ReturnType<typeof sqlStore> {
      const { dialect } = database
      return sqlStore({
        db: host,
        dialect,
        prefix: `s${stores}_`,
        timeoutMs: 20_000,
        clock: { now: () => clock.now() },
      })
    }

    /** Holds rows of runs until it is let go. */
    async function hold(runIds: readonly string[]): Promise<() => Promise<void>> {
      const held = await db.startTransaction().execute()
      for (const runId of runIds) {
        const text = `select * from s${stores}_runs where tenant = 't' and run_id = '${runId}' for update`
        await held.executeQuery(CompiledQuery.raw(text))
      }
      return async () => void (await held.rollback().execute())
    }

    async function idsIn(store: RunStore): Promise<readonly string[]> {
      return (await store.listRuns({ tenant: 't', limit: 9 })).items.map(({ state }) => state.runId)
    }

    it('goes on with what lies behind what others hold', async () => {
      const letGo = await hold(['r1', 'r2', 'r3'])
      const store = storeOver(db)
      expect(await store.removeRuns({ ...ALL, limit: 3 })).toBe(3)
      expect(await idsIn(store)).toEqual(['r1', 'r2', 'r3'])
      await letGo()
    })

    it('does not take for nothing what others hold for a moment', async () => {
      const letGo = await hold(['r1', 'r2', 'r3', 'r4'])
      const store = storeOver(afterOnce(db, REMOVAL, letGo))
      expect(await store.removeRuns({ ...ALL, limit: 6 })).toBe(6)
      expect(await idsIn(store)).toEqual([])
    })

    it('ends, whatever others go on holding', async () => {
      const letGo = await hold(['r2'])
      const store = storeOver(db)
      expect(await store.removeRuns({ ...ALL, limit: 100 })).toBe(5)
      expect(await idsIn(store)).toEqual(['r2'])
      await letGo()
      expect(await store.removeRuns({ ...ALL, limit: 100 })).toBe(1)
    })
  })

const EMPTY = {
  status: 'completed',
  seq: -1,
  earliest: {},
  counts: {},
  final: {},
  latest: {},
  metadata: {},
  tags: [],
} as const

const ALL: Omit<RemovalQuery, 'limit'> = { status: ['completed'], unchangedForMs: 1 }
