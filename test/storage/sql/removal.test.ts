import { describe, expect, it } from 'vitest'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance } from '../storing.ts'

const skipped = (id: string) =>
  ({ deliveryId: `${id}-x`, channel: 'a', status: 'skipped', reason: 'no_address' }) as const

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`removal of dispatches from ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const accept = (id: string, tenant: string) =>
      own.other.accept(acceptance(id, { tenant, deliveries: [skipped(id)] }))
    const remove = (limit: number) => own.other.removeDispatches({ acceptedForMs: 0, limit })

    it('Parts of any size remove the dispatches of all tenants, and the last one says that none is left', async () => {
      for (const limit of [1, 2, 3, 4, 100]) {
        for (const tenant of ['a', 'b', 'é', '\u{1f600}'])
          for (const at of [1, 2, 3]) await accept(`${tenant}${at}-${limit}`, tenant)
        own.clock.advance(1)
        const removed: number[] = []
        do removed.push(await remove(limit))
        while (removed.at(-1) === limit)
        expect(removed.reduce((sum, count) => sum + count)).toBe(12)
        expect(await remove(limit)).toBe(0)
      }
    })

    it('A part goes on after the tenant that the last one ended with, and comes around to tenants before it', async () => {
      for (const tenant of ['a', 'b', 'c']) for (const at of [1, 2]) await accept(`${tenant}${at}`, tenant)
      own.clock.advance(1)
      expect(await remove(3)).toBe(3)
      for (const tenant of ['0', 'a']) await accept(`${tenant}-new`, tenant)
      own.clock.advance(1)
      expect([await remove(3), await remove(3)]).toEqual([3, 2])
    })
  })
