import { describe, expect, it } from 'vitest'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claim, ids } from '../storing.ts'

/** The time-out of a statement; the low-water marks are twice as far behind. */
const TIMEOUT_MS = UNHURRIED_MS
const MARGIN_MS = 2 * TIMEOUT_MS

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent ?? (kind.name === 'sqlite' && 'it has one writer at a time'))(
    `a delivery in ${kind.name} that is committed late`,
    () => {
      const own = storeEach(kind.open)

      it('A delivery that commits behind the low-water mark is claimed by the next full scan', async () => {
        const store = own.over(own.db, { timeoutMs: TIMEOUT_MS })
        expect((await claim(store)).deliveries).toEqual([])
        const transaction = await own.db.startTransaction().execute()
        await store.within(transaction).accept(acceptance('late'))
        own.clock.advance(MARGIN_MS + 1)
        await store.accept(acceptance('early'))
        expect(ids((await claim(store)).deliveries)).toEqual(['early-a'])
        await transaction.commit().execute()
        const { deliveries, nextDueInMs = 0 } = await claim(store)
        expect(deliveries).toEqual([])
        expect(nextDueInMs).toBeGreaterThan(0)
        own.clock.advance(nextDueInMs)
        expect(ids((await claim(store)).deliveries)).toEqual(['late-a'])
      })

      it('A delivery that commits within the margin is claimed at once', async () => {
        const store = own.over(own.db, { timeoutMs: TIMEOUT_MS })
        const transaction = await own.db.startTransaction().execute()
        await store.within(transaction).accept(acceptance('late'))
        own.clock.advance(MARGIN_MS - 1)
        expect((await claim(store)).deliveries).toEqual([])
        await transaction.commit().execute()
        expect(ids((await claim(store)).deliveries)).toEqual(['late-a'])
      })
    },
  )
