import type { DispatchAnswer } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore, LeaseToken } from '../../ports/dispatch-store.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { readDispatch } from '../rules/delivery-copies.ts'
import { type DeliveryPlaces, settleDelivery, transitions } from '../rules/delivery-transitions.ts'
import {
  acceptDispatch,
  cancelDispatch,
  isOpenDispatch,
  leaveDigests,
  readReplannable,
  replanDispatch,
  requeueDispatch,
} from '../rules/dispatch-changes.ts'
import { type DeliveryRow, type DispatchRow, ownersOf } from '../rules/dispatch-rows.ts'
import { sendLimits } from '../rules/send-limits.ts'
import { claimDue } from './claim-due.ts'
import { memoryCounters } from './counters.ts'
import { dispatchIndexes } from './dispatch-indexes.ts'
import { type Expiring, expiringMap } from './expiring-map.ts'
import { openDigests } from './open-digests.ts'
import { receiverQueues } from './receiver-queues.ts'

interface Answered extends Expiring {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

/** The dispatch half of the memory store. Every method runs to its end in one turn of the loop: nothing can come between. */
export function memoryDispatches(clock: Pick<Clock, 'now'>): DispatchStore {
  const tenants = dispatchIndexes()
  const answered = expiringMap<Answered>()
  const queues = receiverQueues<DeliveryRow>()
  const digests = openDigests()
  /** What is being sent, by its id. */
  const leases = new Map<string, DeliveryRow>()
  let fences = 0
  const places: DeliveryPlaces = {
    place: queues.place,
    remove: queues.remove,
    changed(row) {
      digests.update(row)
      if (row.fence !== undefined) leases.set(row.deliveryId, row)
      else if (leases.get(row.deliveryId) === row) leases.delete(row.deliveryId)
      // To be leased changes nothing of how a dispatch stands.
      if (row.status === 'sending') return
      if (!row.digest) tenants.update(row.dispatch)
      else for (const dispatch of ownersOf(row)) tenants.update(dispatch)
    },
    openDigest: digests.find,
  }
  const moves = transitions(places, sendLimits(memoryCounters()))

  function leased({ deliveryId, fence }: LeaseToken): DeliveryRow | undefined {
    const row = leases.get(deliveryId)
    return row?.fence === fence ? row : undefined
  }

  return {
    async recall(tenant, key) {
      const found = answered.get(compoundKey(tenant, key), clock.now())
      return found && { fingerprint: found.fingerprint, answer: copyJson(found.answer) }
    },

    async accept(acceptance) {
      const now = clock.now()
      const { dispatch, idempotency, answer } = acceptance
      const key = idempotency && compoundKey(dispatch.tenant, idempotency.key)
      const found = key === undefined ? undefined : answered.get(key, now)
      if (found && found.fingerprint !== idempotency?.fingerprint) return { outcome: 'key_reused' }
      if (found) return { outcome: 'replayed', answer: copyJson(found.answer) }
      const row = acceptDispatch(acceptance, now, places, moves)
      if (!row) return { outcome: 'quota_spent' }
      tenants.add(row)
      const given = answer(readDispatch(row))
      if (idempotency && key !== undefined) {
        const { fingerprint, ttlMs } = idempotency
        answered.keep({ key, fingerprint, answer: copyJson(given), wakeAt: 0, slot: -1 }, now + ttlMs, now)
      }
      return { outcome: 'accepted', answer: given }
    },

    async claim(request) {
      return claimDue(request, clock.now(), queues, moves, () => `${++fences}`)
    },

    async renew(lease, leaseMs) {
      const row = leased(lease)
      if (row) places.place(row, clock.now() + leaseMs)
      return row !== undefined
    },

    async settle(settlement) {
      const row = leased(settlement)
      return row ? settleDelivery(row, settlement, clock.now(), moves) : { live: false }
    },

    async cancel(tenant, dispatchId) {
      const row = tenants.find(tenant, dispatchId)
      return row && { changed: cancelDispatch(row, moves), dispatch: readDispatch(row) }
    },

    async retry(tenant, dispatchId, options) {
      const row = tenants.find(tenant, dispatchId)
      return row && { changed: requeueDispatch(row, options, clock.now(), moves), dispatch: readDispatch(row) }
    },

    async findReplannable(tenant, dispatchId) {
      const row = tenants.find(tenant, dispatchId)
      return row && readReplannable(row, clock.now())
    },

    async replan(tenant, dispatchId, version, deliveries, options) {
      const row = tenants.find(tenant, dispatchId)
      const changed = row && replanDispatch(row, { ...options, version, deliveries }, clock.now(), places, moves)
      if (!row || !changed) return row && { outcome: 'conflict' }
      tenants.update(row)
      return { outcome: 'replanned', changed, dispatch: readDispatch(row) }
    },

    async findDispatch(tenant, dispatchId) {
      const row = tenants.find(tenant, dispatchId)
      return row && readDispatch(row)
    },

    async listDispatches(query) {
      const { rows, ...page } = tenants.page(query)
      return { ...page, items: rows.map(readDispatch) }
    },

    async removeDispatches({ tenant, acceptedForMs, limit }) {
      const now = clock.now()
      const gone: DispatchRow[] = []
      for (const row of tenants.all(tenant)) {
        if (gone.length >= limit || now - row.head.createdAt <= acceptedForMs) break
        if (!isOpenDispatch(row)) gone.push(row)
      }
      for (const row of gone) {
        leaveDigests(row)
        tenants.remove(row)
      }
      return gone.length
    },
  }
}
