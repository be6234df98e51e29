import type { DispatchStore, LeaseProof, Settled, Settlement } from '../../ports/dispatch-store.ts'
import type { DeliveryRow } from '../deliveries/dispatch-rows.ts'
import { settleDelivery } from '../deliveries/settle-delivery.ts'
import { inBatches } from './batches.ts'
import type { Database } from './database.ts'
import { fenceOf, type LeaseMemory } from './lease-memory.ts'
import { loadDispatches, ownersOf } from './load-dispatches.ts'
import { untilWritten } from './retries.ts'
import { saveWork, workspace } from './workspace.ts'

/** Settles: what is known here, and concerns nothing else, is written without reading anything, all of a moment together. */
export function settlements(db: Database, memory: LeaseMemory): DispatchStore['settle'] {
  /** `undefined`: it has to be read. */
  async function settleKnown(asked: readonly Settlement[]): Promise<readonly (Settled | undefined)[]> {
    await db.sync()
    const now = db.now()
    const work = workspace(now)
    const settled = asked.map((settlement) => {
      const leased = memory.find(settlement)
      if (!leased || leased.delivery.alone === null) return undefined
      work.putDispatch(leased.dispatch, false)
      work.putDelivery(leased.delivery)
      const delivery = work.delivery(settlement.deliveryId)
      return delivery && settleDelivery(delivery, settlement, now, work.moves)
    })
    await saveWork(work, db)
    return settled
  }

  /** With all that may follow from it. */
  function settleWhole(settlement: Settlement): Promise<Settled> {
    return untilWritten(async () => {
      await db.sync()
      const now = db.now()
      const work = workspace(now)
      await loadDispatches(await ownersOf([settlement.deliveryId], db), 'whole', db, work)
      const delivery = work.delivery(settlement.deliveryId)
      if (!delivery || !isLeased(delivery, settlement)) return { live: false }
      const settled = settleDelivery(delivery, settlement, now, work.moves)
      await saveWork(work, db)
      return settled
    })
  }

  const batched = inBatches<Settlement, Settled | undefined>({
    async run(asked) {
      try {
        return await settleKnown(asked)
      } catch (cause) {
        if (asked.length > 1 || !db.isOnesFault(cause)) throw cause
        return [undefined]
      }
    },
    keysOf: ({ deliveryId }) => [deliveryId],
    isOnesFault: db.isOnesFault,
  })

  return async (settlement) => {
    const settled = (await batched(settlement)) ?? (await settleWhole(settlement))
    memory.forget(settlement)
    return settled
  }
}

function isLeased({ status, fence }: DeliveryRow, lease: LeaseProof): boolean {
  return status === 'sending' && fence === fenceOf(lease)
}
