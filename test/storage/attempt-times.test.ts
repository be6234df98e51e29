import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { HostKysely } from '../../src/storage/sql/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { databaseKinds } from './databases.ts'
import { afterOnce } from './sql/host-between.ts'
import { storeEach } from './store-each.ts'
import { acceptance, claimOne, deliveriesOf, lease } from './storing.ts'

/** The database's clock advances by this much before an answer is read. */
const LATE_MS = 40

const SQL = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

for (const kind of (await databaseKinds()).filter(({ name }) => name === 'postgresql'))
  describe.skipIf(kind.absent)(`attempts in ${kind.name}, with late answers`, () => {
    const own = storeEach(kind.open)

    async function databaseNow(): Promise<number> {
      const { rows } = await own.db.executeQuery<{ now: unknown }>(CompiledQuery.raw(`select ${SQL} as now`))
      return Number(rows[0]?.now)
    }

    /** Waits until the database's clock has advanced. */
    async function beLate(): Promise<void> {
      const until = (await databaseNow()) + LATE_MS
      while ((await databaseNow()) < until);
    }

    it.each([0, 1, 60_000])(
      'An attempt with a retry in %d ms ends between its start and its settlement',
      async (delayMs) => {
        const store = (db: HostKysely) =>
          sqlStore({ db, dialect: own.dialect, prefix: own.prefix, timeoutMs: UNHURRIED_MS })
        await store(own.db).accept(acceptance('1'))
        const before = await databaseNow()
        const late = store(afterOnce(own.db, /claim_/, beLate))
        const { deliveryId, fence } = await claimOne(late)
        const begunAt = await databaseNow()
        await late.settle({ deliveryId, fence, to: 'queued', delayMs, attempt: { outcome: 'retry', code: 'busy' } })
        const endedBy = await databaseNow()
        const [delivery] = (await own.other.findDispatch('default', '1'))?.deliveries ?? []
        const { startedAt = 0, endedAt = 0 } = delivery?.attemptLog[0] ?? {}
        expect(endedAt).toBeGreaterThanOrEqual(startedAt)
        // The difference is at most the duration of the claim's answer.
        expect(endedAt).toBeLessThanOrEqual(endedBy + (begunAt - before) + 2)
        if (delayMs === 0) return
        expect(endedAt).toBeGreaterThanOrEqual(begunAt)
        expect(delivery?.dueAt).toBeGreaterThan(endedAt)
      },
    )
  })

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`attempts in ${kind.name}, with a clock that advances within a claim`, () => {
    const own = storeEach(kind.open)

    it('The attempts of one claim begin at the same instant', async () => {
      let now = own.clock.now()
      const store = own.over(own.db, { clock: { now: () => now++ } })
      const begun = async () => (await deliveriesOf(own.other, '1'))[0]?.attemptLog[0]?.startedAt
      await store.accept(acceptance('1'))
      const proof = lease(await claimOne(store))
      const leased = await begun()
      await store.settle({ ...proof, to: 'queued', delayMs: 0, attempt: { outcome: 'retry', code: 'busy' } })
      expect([typeof leased, await begun()]).toEqual(['number', leased])
    })
  })
