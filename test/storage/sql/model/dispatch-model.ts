import { compoundKey } from '../../../../src/model/compound-key.ts'
import type { DispatchAnswer } from '../../../../src/model/dispatch.ts'
import { copyJson } from '../../../../src/model/json.ts'
import type { Acceptance, AcceptOutcome, LeaseToken } from '../../../../src/ports/dispatch-store.ts'
import {
  type Counter,
  type DeliveryIndex,
  deliveryTransitions,
  sendLimits,
  type Transitions,
} from '../../../../src/storage/rules/delivery-transitions.ts'
import { digestKey, isOpenDigest, openedBefore } from '../../../../src/storage/rules/digests.ts'
import { acceptDispatch, isOpenDispatch, leaveDigests } from '../../../../src/storage/rules/dispatch-changes.ts'
import { type DeliveryRow, type DispatchRow, readDispatch } from '../../../../src/storage/rules/dispatch-rows.ts'

interface Answered {
  readonly tenant: string
  readonly fingerprint: string
  readonly expiresAt: number
  answer: DispatchAnswer
}

/** Everything that a model has stored. */
interface Stored {
  readonly dispatches: Map<string, DispatchRow>
  readonly answers: Map<string, Answered>
  readonly counters: Map<string, Counter>
}

/** A store over plain maps and the rules of delivery: every search reads everything. It can be copied, to try two orders of calls. */
export interface DispatchModel {
  /** Dispatches by id. */
  readonly dispatches: ReadonlyMap<string, DispatchRow>
  readonly index: DeliveryIndex
  readonly transitions: Transitions
  /** Each delivery once, also if several dispatches share it. */
  deliveries(): readonly DeliveryRow[]
  find(tenant: string, dispatchId: string): DispatchRow | undefined
  /** Dispatches of the tenant that have a delivery of this id. */
  ownersOf(tenant: string, deliveryId: string): readonly DispatchRow[]
  /** The delivery, if the lease is live. */
  leased(lease: LeaseToken): DeliveryRow | undefined
  recall(tenant: string, key: string): { readonly fingerprint: string; readonly answer: DispatchAnswer } | undefined
  /** Answers of a tenant, also expired ones. */
  answers(tenant: string): readonly Answered[]
  accept(acceptance: Acceptance): AcceptOutcome
  /** Dispatches without open deliveries, accepted before an instant. */
  removable(tenant: string | undefined, before: number): readonly DispatchRow[]
  remove(row: DispatchRow): void
  /** An independent copy. */
  fork(): DispatchModel
}

export function dispatchModel(now: () => number, stored: Stored = emptyStore()): DispatchModel {
  const { dispatches, answers, counters } = stored
  const all = (): readonly DeliveryRow[] => {
    const rows = [...dispatches.values()].flatMap(({ deliveries }) => deliveries)
    // The record of an event that left a digest has the id of the digest.
    return [...new Set(rows)]
  }

  const index: DeliveryIndex = {
    schedule(row, wakeAt) {
      row.wakeAt = wakeAt
      row.slot = 0
    },
    unschedule(row) {
      row.slot = -1
    },
    update(row) {
      if (row.digest?.opened === 0 && isOpenDigest(row)) row.digest.opened = now()
    },
    resize() {},
    openDigest(row) {
      const { digest } = row
      if (!digest) return undefined
      const key = digestKey(row, digest)
      const open = all().filter(
        (one) => one.digest && isOpenDigest(one) && one.wakeAt > now() && digestKey(one, one.digest) === key,
      )
      return open.sort((one, other) => (openedBefore(one, other) ? -1 : 1))[0]
    },
  }
  const limits = sendLimits({
    find: (tenant, name) => counters.get(compoundKey(tenant, name)),
    keep: (counter) => void counters.set(compoundKey(counter.tenant, counter.name), counter),
  })
  const transitions = deliveryTransitions(index, limits)

  const recall = (tenant: string, key: string): Answered | undefined => {
    const found = answers.get(compoundKey(tenant, key))
    return found && found.expiresAt > now() ? found : undefined
  }

  return {
    ...{ dispatches, index, transitions, deliveries: all, recall },

    find(tenant, dispatchId) {
      const row = dispatches.get(dispatchId)
      return row?.head.tenant === tenant ? row : undefined
    },

    ownersOf: (tenant, deliveryId) =>
      [...dispatches.values()].filter(
        ({ head, deliveries }) => head.tenant === tenant && deliveries.some((row) => row.deliveryId === deliveryId),
      ),

    leased: ({ deliveryId, fence }) =>
      all().find((row) => row.deliveryId === deliveryId && row.status === 'sending' && row.fence === fence),

    answers: (tenant) => [...answers.values()].filter((one) => one.tenant === tenant),

    accept(acceptance) {
      const { dispatch, idempotency, answer } = acceptance
      const { tenant, dispatchId } = dispatch
      const found = idempotency && recall(tenant, idempotency.key)
      if (found && found.fingerprint !== idempotency.fingerprint) return { outcome: 'key_reused' }
      if (found) return { outcome: 'replayed', answer: copyJson(found.answer) }
      const row = acceptDispatch(acceptance, now(), index, transitions)
      if (!row) return { outcome: 'quota_spent' }
      dispatches.set(dispatchId, row)
      const given = answer(readDispatch(row))
      if (idempotency) {
        const { key, fingerprint, ttlMs } = idempotency
        const kept = { tenant, fingerprint, answer: copyJson(given), expiresAt: now() + ttlMs }
        answers.set(compoundKey(tenant, key), kept)
      }
      return { outcome: 'accepted', answer: given }
    },

    removable: (tenant, before) =>
      [...dispatches.values()].filter(
        (row) =>
          (tenant === undefined || row.head.tenant === tenant) && row.head.createdAt < before && !isOpenDispatch(row),
      ),

    remove(row) {
      leaveDigests(row)
      dispatches.delete(row.head.dispatchId)
    },

    fork: () => dispatchModel(now, structuredClone(stored)),
  }
}

function emptyStore(): Stored {
  return { dispatches: new Map(), answers: new Map(), counters: new Map() }
}
