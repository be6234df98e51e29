import type { Dispatch, DispatchAnswer } from '../../model/dispatch.ts'
import type { AnswerErasure } from '../../ports/dispatch-erasure.ts'
import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import type { DispatchStore, LeaseToken, StoredAnswer } from '../../ports/dispatch-store.ts'
import type { Documents } from '../../ports/documents.ts'
import { queuesOf } from '../rules/claim-priority.ts'
import { settleDelivery } from '../rules/delivery-transitions.ts'
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
import { currentStatus, type DeliveryRow, type DispatchRow, dispatchRow, readDispatch } from '../rules/dispatch-rows.ts'
import { eraseDispatch, isErased, readDispatchData, redactedAnswer, sharersOf } from '../rules/erasure-rules.ts'
import { hasDelivery } from '../rules/has-delivery.ts'
import { claimDueDocuments } from './claim-due.ts'
import { turnKey, waitingKey } from './delivery-documents.ts'
import { CLOSED, DocumentUnitOfWork, dispatchesOf, type ListedDispatch } from './dispatch-unit-of-work.ts'
import { type Forgettable, forgetExpired, putForgettable } from './forgettable.ts'
import { documentKey, prefixOf, timeIn } from './keys.ts'
import { readPage, walkDocuments } from './pages.ts'
import { type Transaction, transact } from './transaction.ts'

interface Answered extends Forgettable {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

export function documentDispatches(documents: Documents): DispatchStore {
  function change<T>(work: (unit: DocumentUnitOfWork, tx: Transaction) => Promise<T>): Promise<T> {
    return transact(documents, async (tx) => {
      const unit = new DocumentUnitOfWork(tx)
      const result = await work(unit, tx)
      await unit.save()
      return result
    })
  }

  function read<T>(tenant: string, dispatchId: string, view: (row: DispatchRow, now: number) => T) {
    return transact(documents, async (tx): Promise<T | undefined> => {
      const row = await new DocumentUnitOfWork(tx).dispatch(dispatchId)
      return row?.head.tenant === tenant ? view(row, tx.now) : undefined
    })
  }

  function remove(dispatchId: string): Promise<boolean> {
    return change(async (unit) => {
      const row = await unit.dispatch(dispatchId)
      if (!row || isOpenDispatch(row)) return false
      leaveDigests(row)
      unit.remove(row)
      return true
    })
  }

  /** Reads the answer again in its transaction. */
  function redact(key: string, erasure: AnswerErasure): Promise<boolean> {
    return transact(documents, async (tx) => {
      const stored = await tx.get<Answered>(key)
      const answer = stored && redactedAnswer(erasure, stored.answer)
      if (answer) tx.put(key, { ...stored, answer })
      return answer !== undefined
    })
  }

  return {
    async recall(tenant, key) {
      return transact(documents, async (tx) => storedAnswer(await tx.get<Answered>(answerKey(tenant, key)), tx.now))
    },

    accept: (acceptance) =>
      change(async (unit, tx) => {
        const { dispatch, expiresInMs, idempotency, quotas, answer } = acceptance
        const key = answerKey(dispatch.tenant, idempotency?.key ?? '')
        const stored = idempotency && (await tx.get<Answered>(key))
        const found = storedAnswer(stored, tx.now)
        if (found && found.fingerprint !== idempotency?.fingerprint) return { outcome: 'key_reused' }
        if (found) return { outcome: 'replayed', answer: found.answer }
        const known = await Promise.all(dispatch.deliveries.map(({ deliveryId }) => unit.delivery(deliveryId)))
        if ((await unit.dispatch(dispatch.dispatchId)) || repeatsDelivery(dispatch) || known.some(Boolean))
          return { outcome: 'id_taken' }
        await unit.readCounters(dispatch.tenant, quotas)
        for (const row of dispatchRow(dispatch, expiresInMs, tx.now).deliveries) await unit.prepare(row)
        const row = acceptDispatch(acceptance, tx.now, unit.index, unit.transitions)
        if (!row) return { outcome: 'quota_spent' }
        unit.add(row)
        const given = answer(readDispatch(row))
        if (idempotency) {
          const { fingerprint, ttlMs } = idempotency
          putForgettable(tx, key, stored, { fingerprint, answer: given }, tx.now + ttlMs)
        }
        return { outcome: 'accepted', answer: given }
      }),

    claim: (request) => change((unit, tx) => claimDueDocuments(request, unit, tx, documents)),

    renew: (lease, leaseMs) =>
      change(async (unit, { now }) => {
        const row = await leased(lease, unit)
        if (row) unit.index.schedule(row, now + leaseMs)
        return row !== undefined
      }),

    settle: (settlement) =>
      change(async (unit, { now }) => {
        const row = await leased(settlement, unit)
        if (!row) return { live: false }
        await unit.readOwners(row)
        return settleDelivery(row, settlement, now, unit.transitions)
      }),

    cancel: (tenant, dispatchId) =>
      change(async (unit) => {
        const row = await find(tenant, dispatchId, unit)
        return row && { changed: cancelDispatch(row, unit.transitions), dispatch: readDispatch(row) }
      }),

    retry: (tenant, dispatchId, options) =>
      change(async (unit, { now }) => {
        const row = await find(tenant, dispatchId, unit)
        return row && { changed: requeueDispatch(row, options, now, unit.transitions), dispatch: readDispatch(row) }
      }),

    fallBack: (tenant, deliveryId) =>
      change(async (unit, { now }) => {
        const delivery = await unit.delivery(deliveryId)
        const row = delivery && (await find(tenant, delivery.dispatch.head.dispatchId, unit))
        if (!row) return undefined
        return { changed: fallBackDispatch(row, deliveryId, now, unit.transitions), dispatch: readDispatch(row) }
      }),

    findReplannable: (tenant, dispatchId) => read(tenant, dispatchId, readReplannable),

    replan: (tenant, dispatchId, version, deliveries, options) =>
      change(async (unit, { now }) => {
        const row = await find(tenant, dispatchId, unit)
        if (!row) return undefined
        const planned = dispatchRow({ ...row.head, deliveries }, options.expiresInMs, now)
        for (const delivery of planned.deliveries) await unit.prepare(delivery)
        const replan = { ...options, version, deliveries }
        const changed = replanDispatch(row, replan, now, unit.index, unit.transitions)
        return changed ? { outcome: 'replanned', changed, dispatch: readDispatch(row) } : { outcome: 'conflict' }
      }),

    findDispatch: (tenant, dispatchId) => read(tenant, dispatchId, readDispatch),

    findByDelivery: (tenant, deliveryId) =>
      transact(documents, async (tx) => {
        const unit = new DocumentUnitOfWork(tx)
        const delivery = await unit.delivery(deliveryId)
        const row = delivery && (await unit.dispatch(delivery.dispatch.head.dispatchId))
        return row?.head.tenant === tenant ? readDispatch(row) : undefined
      }),

    findDispatchData: (tenant, dispatchId) => read(tenant, dispatchId, readDispatchData),

    eraseDispatch: (tenant, dispatchId) =>
      change(async (unit) => {
        const row = await find(tenant, dispatchId, unit)
        if (!row || isErased(row)) return undefined
        // The digests of its sharers end too, in dispatches that share nothing with this one.
        for (const { head } of sharersOf(row)) await unit.dispatchWithOwners(head.dispatchId)
        return eraseDispatch(row, unit.transitions)
      }),

    async redactAnswers(erasure) {
      let redacted = 0
      for await (const { key, text } of walkDocuments(documents, prefixOf('answer', erasure.tenant))) {
        const listed: Answered = JSON.parse(text)
        if (redactedAnswer(erasure, listed.answer) && (await redact(key, erasure))) redacted += 1
      }
      return redacted
    },

    async countDue({ tenant, channels, limit }) {
      const now = await documents.now()
      let count = 0
      let oldest = now
      for (const queue of queuesOf(channels)) {
        const prefix = tenant === undefined ? waitingKey(queue) : turnKey(queue, tenant)
        let left = limit
        for await (const { key } of walkDocuments(documents, prefix, { first: 'oldest', until: Math.floor(now) + 1 })) {
          oldest = Math.min(oldest, timeIn(key, prefix))
          count++
          if (--left <= 0) break
        }
      }
      return { count: Math.min(count, limit), ...(count > 0 && { oldestMs: Math.floor(now - oldest) }) }
    },

    listDispatches: (query) =>
      readPage<ListedDispatch, Dispatch>(
        documents,
        dispatchesOf(query.tenant),
        { ...query, first: query.first ?? 'newest' },
        {
          fits: (listed) => fits(listed, query),
          read: async ({ tenant, dispatchId }) =>
            read(tenant, dispatchId, (row) =>
              fits({ ...row.head, status: currentStatus(row) }, query) && hasDelivery(row, query)
                ? readDispatch(row)
                : undefined,
            ),
        },
      ),

    async removeDispatches({ tenant, acceptedForMs, limit }) {
      const until = (await documents.now()) - acceptedForMs
      let removed = 0
      for await (const { text } of walkDocuments(documents, CLOSED, { first: 'oldest', until })) {
        if (removed >= limit) break
        const closed: Pick<ListedDispatch, 'tenant' | 'dispatchId'> = JSON.parse(text)
        const isWanted = tenant === undefined || closed.tenant === tenant
        if (isWanted && (await remove(closed.dispatchId))) removed += 1
      }
      return removed
    },

    forgetExpired: (limit) => forgetExpired(documents, limit),
  }
}

async function leased({ deliveryId, fence }: LeaseToken, unit: DocumentUnitOfWork): Promise<DeliveryRow | undefined> {
  const row = await unit.delivery(deliveryId)
  return row?.status === 'sending' && row.fence === fence ? row : undefined
}

async function find(tenant: string, dispatchId: string, unit: DocumentUnitOfWork): Promise<DispatchRow | undefined> {
  const row = await unit.dispatchWithOwners(dispatchId)
  return row?.head.tenant === tenant ? row : undefined
}

function answerKey(tenant: string, key: string): string {
  return documentKey('answer', tenant, key)
}

/** The answer of an idempotency key; `undefined` once it has expired. */
function storedAnswer(found: Answered | undefined, now: number): StoredAnswer | undefined {
  return found && found.until > now ? { fingerprint: found.fingerprint, answer: found.answer } : undefined
}

/** Whether an index document matches a query. It has no deliveries, and its key has the time. */
function fits(
  listed: Pick<ListedDispatch, 'sessionId' | 'eventType' | 'recipient' | 'status'>,
  { sessionId, eventType, recipient, status }: DispatchQuery,
): boolean {
  return (
    (sessionId === undefined || listed.sessionId === sessionId) &&
    (eventType === undefined || listed.eventType === eventType) &&
    (recipient === undefined || listed.recipient === recipient) &&
    (status === undefined || listed.status === status)
  )
}
