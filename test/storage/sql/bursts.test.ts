import { describe, expect, it } from 'vitest'
import type { AcceptOutcome } from '../../../src/ports/dispatch-store.ts'
import type { SqlStore } from '../../../src/storage/sql/index.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claim, delivery, digested, lease } from '../storing.ts'
import { hostBetween } from './host-between.ts'

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`bursts on ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const BURST = kind.name === 'postgresql' ? 1_000 : 200
    const numbered = Array.from({ length: BURST }, (_, at) => `${at}`)

    function counted(counts: (text: string) => boolean): { readonly store: SqlStore; readonly texts: string[] } {
      const texts: string[] = []
      const host = hostBetween(own.db, (query) => {
        if (counts(query.sql)) texts.push(query.sql)
        return own.db.executeQuery(query)
      })
      return { store: own.over(host), texts }
    }

    const outcomesOf = (outcomes: readonly AcceptOutcome[]) => new Set(outcomes.map(({ outcome }) => outcome))

    it('A burst through two stores joins one digest, which is sent with every event', async () => {
      const stores = [own.over(own.db), own.other]
      const joining = (id: string) => acceptance(id, { deliveries: [digested(`${id}-a`, { max: BURST })] })
      const outcomes = await Promise.all(
        numbered.map((id, at) => stores[at % 2]?.accept(joining(id)) as Promise<AcceptOutcome>),
      )
      expect(outcomesOf(outcomes)).toEqual(new Set(['accepted']))
      own.clock.advance(1_000)
      const [only, ...others] = (await claim(own.other)).deliveries
      expect(others).toEqual([])
      if (!only) throw new Error('nothing was due')
      const events = only.digest?.events.map(({ dispatchId }) => dispatchId) ?? []
      expect(events.toSorted()).toEqual(numbered.toSorted())
      expect(await own.other.settle({ ...lease(only), to: 'sent', attempt: { outcome: 'sent' } })).toEqual({
        live: true,
        others: [],
      })
      const { items } = await own.other.listDispatches({ tenant: 'default', status: 'sent', limit: 2 * BURST })
      expect(items.length).toBe(BURST)
    }, 60_000)

    it('A burst for one limit is counted in few writes', async () => {
      // Each write follows a read of the counter.
      const { store, texts } = counted((text) => /^select r.*counters/s.test(text))
      const limits = [{ key: 'l', max: BURST - 1, windowMs: 60_000 }]
      const outcomes = await Promise.all(
        numbered.map((id) => store.accept(acceptance(id, { deliveries: [delivery(`${id}-a`, { limits })] }))),
      )
      expect(outcomesOf(outcomes)).toEqual(new Set(['accepted']))
      const throttled = { tenant: 'default', channel: 'a', reason: 'throttled', limit: 9 } as const
      expect((await store.listDispatches(throttled)).items.length).toBe(1)
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.length).toBeLessThanOrEqual(BURST / 100)
    }, 60_000)

    it('A join reads no event of its digest', async () => {
      const joining = (id: string) => acceptance(id, { deliveries: [digested(`${id}-a`, { max: BURST })] })
      await own.other.accept(joining('first'))
      const { store, texts } = counted((text) => /from [^(]*members|join [^(]*members/.test(text))
      for (const id of ['second', 'third']) await store.accept(joining(id))
      expect(texts).toEqual([])
      expect((await own.other.findDispatch('default', 'third'))?.deliveries).toMatchObject([{ eventCount: 3 }])
    })
  })
