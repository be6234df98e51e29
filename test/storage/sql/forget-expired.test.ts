import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { ended } from '../../core/delivery/real-servers.ts'
import { countingIds, recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'

const HOUR = 3_600_000
const EVENTS = defineEvents({ e: { channels: { a: {} } } })

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`expired keys on ${kind.name}`, () => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database.close())

    it('A prune removes all expired keys, and no others', { timeout: 120_000 }, async () => {
      const db = database.connect()
      const clock = fakeClock()
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const { dispatch, dispatches } = createSallyport({
        ...{ auth: testAuth, events: EVENTS, store, clock, ids: countingIds(), logger: recordingLogger() },
        channels: { a: recordingChannel() },
        idempotencyTtlMs: 24 * HOUR,
      })
      const post = (at: number) =>
        dispatch({ eventType: 'e', recipient: 'jane@example.com' }, { idempotencyKey: `k${at}` })
      const keys = async (): Promise<number> => {
        const rows = await db.selectFrom('sallyport_idempotency_keys').select('name').execute()
        return rows.length
      }
      const answers = await Promise.all(Array.from({ length: 1_100 }, (_, at) => post(at)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
      clock.advance(2 * HOUR)
      await post(5_000)
      clock.advance(23 * HOUR)
      expect(await keys()).toBe(1_101)
      expect(await ended(dispatches.prune({ olderThan: 90 * 24 * HOUR }), clock)).toEqual({ pruned: 0 })
      expect(await keys()).toBe(1)
      expect(await post(5_000)).toMatchObject({ status: 202, body: { duplicate: true } })
      expect(await post(0)).toMatchObject({ status: 202, body: { duplicate: false } })
    })
  })
