import { CompiledQuery } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RemovalQuery, RunStore } from '../../../src/ports/run-store.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { afterOnce } from './host-between.ts'

/** The statement that looks for locked runs again; a function on PostgreSQL. */
const SECOND_LOOK = /^select (r\.tenant, r\.session_id.*runs|found from)/s

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined || kind.name === 'sqlite')(`a removal in ${kind.name}`, () => {
    const own = storeEach(kind.open)
    beforeEach(async () => {
      for (const runId of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']) {
        const key = { tenant: 't', sessionId: 's', runId }
        await own.other.mergeRun(key, () => ({
          result: undefined,
          state: { runId, sessionId: 's', application: EMPTY },
        }))
        own.clock.advance(1)
      }
      own.clock.advance(10)
    })

    /** Locks rows of runs until it is released. */
    async function hold(runIds: readonly string[]): Promise<() => Promise<void>> {
      const held = await own.db.startTransaction().execute()
      for (const runId of runIds) {
        const text = `select * from ${own.prefix}runs where run_id = '${runId}' and session_id = 's' and tenant = 't' for update`
        await held.executeQuery(CompiledQuery.raw(text))
      }
      return async () => void (await held.rollback().execute())
    }

    async function idsIn(store: RunStore): Promise<readonly string[]> {
      return (await store.listRuns({ tenant: 't', limit: 9 })).items.map(({ state }) => state.runId)
    }

    it('A removal skips locked runs and continues behind them', async () => {
      const letGo = await hold(['r1', 'r2', 'r3'])
      const store = own.other
      expect(await store.removeRuns({ ...ALL, limit: 3 })).toBe(3)
      expect(await idsIn(store)).toEqual(['r1', 'r2', 'r3'])
      await letGo()
    })

    it('A removal waits for runs that are locked for a moment', async () => {
      const letGo = await hold(['r1', 'r2', 'r3', 'r4'])
      const store = own.over(afterOnce(own.db, SECOND_LOOK, letGo))
      expect(await store.removeRuns({ ...ALL, limit: 6 })).toBe(6)
      expect(await idsIn(store)).toEqual([])
    })

    it('A removal ends even if runs stay locked', async () => {
      const letGo = await hold(['r2'])
      const store = own.other
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
