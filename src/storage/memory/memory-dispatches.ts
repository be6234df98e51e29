import type { DispatchAnswer } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore, LeaseToken } from '../../ports/dispatch-store.ts'
import { CLAIM_PRIORITIES, NORMAL, URGENT } from '../rules/claim-priority.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { type DeliveryIndex, deliveryTransitions, sendLimits, settleDelivery } from '../rules/delivery-transitions.ts'
import {
  acceptDispatch,
  cancelDispatch,
  fallBackDispatch,
  isOpenDispatch,
  leaveDigests,
  readReplannable,
  repeatsDelivery,
  replanDispatch,
  requeueDispatch,
} from '../rules/dispatch-changes.ts'
import { type DeliveryRow, type DispatchRow, ownersOf, readDispatch } from '../rules/dispatch-rows.ts'
import { eraseDispatch, isErased, readDispatchData, redactedAnswer, sharersOf } from '../rules/erasure-rules.ts'
import { claimDue, type PriorityQueues } from './claim-due.ts'
import { dispatchIndexes, openDigests } from './dispatch-indexes.ts'
import { type Expiring, expiringMap, memoryCounters } from './expiring-map.ts'
import { receiverQueues } from './receiver-queues.ts'

interface Answered extends Expiring {
  readonly fingerprint: string
  answer: DispatchAnswer
}

/** Dispatches of a memory store. Every method completes in one turn of the event loop, so methods never interleave. */
export function memoryDispatches(clock: Pick<Clock, 'now'>): DispatchStore {
  const dispatches = dispatchIndexes()
  const answered = expiringMap<Answered>()
  const newQueues = () => receiverQueues<DeliveryRow>(({ dispatch }) => dispatch.head.tenant)
  const queues: PriorityQueues = { [URGENT]: newQueues(), [NORMAL]: newQueues() }
  const digests = openDigests(clock)
  const leases = new Map<string, DeliveryRow>()
  let fences = 0
  const index: DeliveryIndex = {
    schedule: (row, wakeAt) => queues[row.priority].place(row, wakeAt),
    unschedule: (row) => queues[row.priority].remove(row),
    update(row) {
      digests.update(row)
      if (row.fence !== undefined) leases.set(row.deliveryId, row)
      else if (leases.get(row.deliveryId) === row) leases.delete(row.deliveryId)
      // A lease does not change the status of a dispatch.
      if (row.status === 'sending') return
      if (!row.digest) dispatches.update(row.dispatch)
      else for (const dispatch of ownersOf(row)) dispatches.update(dispatch)
    },
    resize: digests.update,
    openDigest: digests.find,
  }
  const transitions = deliveryTransitions(index, sendLimits(memoryCounters()))

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
      const isTaken = dispatch.deliveries.some(({ deliveryId }) => dispatches.hasDelivery(deliveryId))
      if (isTaken || dispatches.has(dispatch.dispatchId) || repeatsDelivery(dispatch)) return { outcome: 'id_taken' }
      const row = acceptDispatch(acceptance, now, index, transitions)
      if (!row) return { outcome: 'quota_spent' }
      dispatches.add(row)
      const given = answer(readDispatch(row))
      if (idempotency && key !== undefined) {
        const { fingerprint, ttlMs } = idempotency
        answered.keep({ key, fingerprint, answer: copyJson(given), wakeAt: 0, slot: -1 }, now + ttlMs, now)
      }
      return { outcome: 'accepted', answer: given }
    },

    async claim(request) {
      return claimDue(request, clock.now(), queues, transitions, () => `${++fences}`)
    },

    async renew(lease, leaseMs) {
      const row = leased(lease)
      if (row) index.schedule(row, clock.now() + leaseMs)
      return row !== undefined
    },

    async settle(settlement) {
      const row = leased(settlement)
      return row ? settleDelivery(row, settlement, clock.now(), transitions) : { live: false }
    },

    async cancel(tenant, dispatchId) {
      const row = dispatches.find(tenant, dispatchId)
      return row && { changed: cancelDispatch(row, transitions), dispatch: readDispatch(row) }
    },

    async retry(tenant, dispatchId, options) {
      const row = dispatches.find(tenant, dispatchId)
      return row && { changed: requeueDispatch(row, options, clock.now(), transitions), dispatch: readDispatch(row) }
    },

    async fallBack(tenant, deliveryId) {
      const row = dispatches.findByDelivery(tenant, deliveryId)
      if (!row) return undefined
      return { changed: fallBackDispatch(row, deliveryId, clock.now(), transitions), dispatch: readDispatch(row) }
    },

    async findReplannable(tenant, dispatchId) {
      const row = dispatches.find(tenant, dispatchId)
      return row && readReplannable(row, clock.now())
    },

    async replan(tenant, dispatchId, version, deliveries, options) {
      const row = dispatches.find(tenant, dispatchId)
      const changed = row && replanDispatch(row, { ...options, version, deliveries }, clock.now(), index, transitions)
      if (!row || !changed) return row && { outcome: 'conflict' }
      dispatches.update(row)
      return { outcome: 'replanned', changed, dispatch: readDispatch(row) }
    },

    async findDispatch(tenant, dispatchId) {
      const row = dispatches.find(tenant, dispatchId)
      return row && readDispatch(row)
    },

    async findByDelivery(tenant, deliveryId) {
      const row = dispatches.findByDelivery(tenant, deliveryId)
      return row && readDispatch(row)
    },

    async findDispatchData(tenant, dispatchId) {
      const row = dispatches.find(tenant, dispatchId)
      return row && readDispatchData(row)
    },

    async eraseDispatch(tenant, dispatchId) {
      const row = dispatches.find(tenant, dispatchId)
      if (!row || isErased(row)) return undefined
      const recipients = sharersOf(row).map((sharer) => [sharer, sharer.head.recipient] as const)
      const erased = eraseDispatch(row, transitions)
      for (const [sharer, recipient] of recipients) dispatches.relist(sharer, recipient)
      return erased
    },

    async redactAnswers(erasure) {
      let redacted = 0
      for (const stored of answered.withPrefix(compoundKey(erasure.tenant))) {
        const answer = redactedAnswer(erasure, stored.answer)
        if (!answer) continue
        stored.answer = answer
        redacted += 1
      }
      return redacted
    },

    async listDispatches(query) {
      const { rows, ...page } = dispatches.page(query)
      return { ...page, items: rows.map(readDispatch) }
    },

    async countDue({ tenant, channels, limit }) {
      const now = clock.now()
      let count = 0
      let oldest = now
      for (const priority of CLAIM_PRIORITIES)
        for (const channel of channels)
          for (const dueAt of queues[priority].dueOf(channel, tenant, now)) {
            count++
            oldest = Math.min(oldest, dueAt)
          }
      return { count: Math.min(count, limit), ...(count > 0 && { oldestMs: now - oldest }) }
    },

    async removeDispatches({ tenant, acceptedForMs, limit }) {
      const now = clock.now()
      const gone: DispatchRow[] = []
      for (const row of dispatches.all(tenant)) {
        if (gone.length >= limit || now - row.head.createdAt <= acceptedForMs) break
        if (!isOpenDispatch(row)) gone.push(row)
      }
      for (const row of gone) {
        leaveDigests(row)
        dispatches.remove(row)
      }
      return gone.length
    },
  }
}
