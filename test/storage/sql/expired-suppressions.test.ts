import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewFeedback } from '../../../src/ports/feedback-store.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'

const HOUR = 3_600_000

/** A soft bounce, which suppresses its address for an hour. */
function softBounce(at: number): NewFeedback {
  const id = String(at).padStart(4, '0')
  const place = { tenant: 't', channel: 'email', addressKey: `k1.${id}` }
  return {
    ...{ ...place, feedbackId: id, owner: `delivery:${id}`, kind: 'bounced', at },
    suppression: { ...place, suppressionId: id, reason: 'soft_bounced', source: 'ses', expiresInMs: HOUR },
  }
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`expired suppressions on ${kind.name}`, () => {
    let database: TestDatabase
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database.close())

    it('Removing the reports of soft bounces removes their expired suppressions', async () => {
      const db = database.connect()
      const clock = fakeClock()
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const bounces = Array.from({ length: 600 }, (_, at) => softBounce(at))
      for (let at = 0; at < bounces.length; at += 100)
        await store.recordFeedback({ feedback: bounces.slice(at, at + 100) })
      clock.advance(HOUR / 2)
      await store.recordFeedback({ feedback: [softBounce(9_999)] })
      clock.advance(HOUR / 2 + 1)
      const limit = 200
      let removed = limit
      while (removed === limit) removed = await store.removeFeedback({ storedForMs: HOUR / 2 + 2, limit })
      const rows = await db
        .selectFrom('sallyport_plugin_records')
        .select('key')
        .where('kind', '=', 'suppressions')
        .execute()
      expect(rows).toEqual([{ key: '9999' }])
    })
  })
