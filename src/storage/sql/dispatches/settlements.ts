import type { DispatchStore, LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import { settleDelivery } from '../../rules/delivery-transitions.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit } from '../connection/group-commit.ts'
import { jsonSize } from '../connection/json-size.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { type DispatchUnitOfWork, dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { inDoubtSettlements } from './in-doubt-settlements.ts'
import { fenceOf, type LeaseCache } from './lease-cache.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import { saveWork } from './save-work.ts'

/** Settles: what is known here, and concerns nothing else, is written without reading anything, all of a moment together. */
export function settlements(db: Database, memory: LeaseCache): DispatchStore['settle'] {
  const inDoubt = inDoubtSettlements()

  /** Settles on what a workspace holds, and writes it. */
  async function write(
    work: DispatchUnitOfWork,
    now: number,
    asked: readonly Settlement[],
  ): Promise<readonly (Settled | undefined)[]> {
    const latest = now + db.uncertaintyMs()
    const settled = asked.map((settlement) => {
      const found = work.found(settlement.deliveryId)
      if (!found) return undefined
      const one = settleDelivery(found.row, settlement, now, work.moves, latest)
      // When this fails, or nobody waits for it any longer, it may be written all the same.
      inDoubt.keep(settlement, found, one)
      return one
    })
    await saveWork(work, db)
    return settled
  }

  /** `undefined`: it has to be read. */
  async function settleKnown(asked: readonly Settlement[]): Promise<readonly (Settled | undefined)[]> {
    await db.sync()
    const now = db.now()
    const work = dispatchUnitOfWork(now, db.uncertaintyMs())
    for (const settlement of asked) {
      const leased = memory.find(settlement)
      if (!leased || leased.delivery.alone === null) continue
      work.putDispatch(leased.dispatch, false)
      work.putDelivery(leased.delivery)
    }
    return write(work, now, asked)
  }

  /** With all that may follow from it. */
  function settleWhole(settlement: Settlement): Promise<Settled> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const work = dispatchUnitOfWork(now, db.uncertaintyMs())
      await loadDispatches(await loadOwners([settlement.deliveryId], db), 'whole', db, work)
      const found = work.found(settlement.deliveryId)
      if (!found || !isLeased(found.row, settlement)) return inDoubt.find(settlement, found) ?? { live: false }
      const [settled] = await write(work, now, [settlement])
      return settled ?? { live: false }
    })
  }

  const batched = groupCommit<Settlement, Settled | undefined>({
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
    sizeOf: (settlement) => (settlement.to === 'queued' && settlement.content ? jsonSize(settlement.content) : 0),
    timeoutMs: db.timeoutMs,
  })

  return async (settlement) => {
    const settled = (await batched(settlement)) ?? (await settleWhole(settlement))
    memory.forget(settlement)
    inDoubt.forget(settlement)
    return settled
  }
}

function isLeased({ status, fence }: DeliveryRow, lease: LeaseToken): boolean {
  return status === 'sending' && fence === fenceOf(lease)
}
