import type {
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DispatchQuery,
  DispatchStore,
  LeaseProof,
  Remembered,
} from 'sallyport'
import {
  acceptDispatch,
  beginAttempt,
  cancelDispatch,
  claimedDelivery,
  type DeliveryRow,
  type DispatchRow,
  dispatchRow,
  type Expired,
  expireDelivery,
  isOpenDispatch,
  leaveDigests,
  ownersOf,
  readDispatch,
  readReplannable,
  replanDispatch,
  retryDispatch,
  settleDelivery,
  statusOfDispatch,
} from 'sallyport/storage/rules'
import { Desk, type DispatchDocument, type Waiting } from './desk.ts'
import type { Documents, Key } from './documents.ts'
import { allAre, page } from './page.ts'
import { type Transaction, transact } from './transaction.ts'

type Answered = Remembered & { readonly until: number }

/** The dispatches of a store. */
export function documentDispatches(documents: Documents): DispatchStore {
  function change<T>(work: (desk: Desk, tx: Transaction) => Promise<T>): Promise<T> {
    return transact(documents, async (tx) => {
      const desk = new Desk(tx)
      const result = await work(desk, tx)
      desk.save()
      return result
    })
  }

  return {
    recall: (tenant, key) => transact(documents, (tx) => remembered(tx, tenant, key)),

    accept: (acceptance) =>
      change(async (desk, tx) => {
        const { dispatch, expiresInMs, idempotency, quota, answer } = acceptance
        const found = idempotency && (await remembered(tx, dispatch.tenant, idempotency.key))
        if (found && found.fingerprint !== idempotency?.fingerprint) return { outcome: 'key_reused' }
        if (found) return { outcome: 'replayed', answer: found.answer }
        if (quota) await desk.count(dispatch.tenant, [quota])
        for (const row of dispatchRow(dispatch, expiresInMs, tx.now).deliveries) await desk.prepare(row)
        const row = acceptDispatch(acceptance, tx.now, desk.places, desk.moves)
        if (!row) return { outcome: 'quota_spent' }
        desk.add(row)
        const given = answer(readDispatch(row))
        if (idempotency) {
          const { fingerprint, ttlMs } = idempotency
          tx.put(keyOf(dispatch.tenant, idempotency.key), { fingerprint, answer: given, until: tx.now + ttlMs })
        }
        return { outcome: 'accepted', answer: given }
      }),

    claim: (request) => change((desk, tx) => claimDue(request, desk, tx)),

    renew: (lease, leaseMs) =>
      change(async (desk, { now }) => {
        const row = await leased(lease, desk)
        if (row) desk.places.place(row, now + leaseMs)
        return row !== undefined
      }),

    settle: (settlement) =>
      change(async (desk, { now }) => {
        const row = await leased(settlement, desk)
        if (!row) return { live: false }
        await readOwners(row, desk)
        return settleDelivery(row, settlement, now, desk.moves)
      }),

    cancel: (tenant, dispatchId) =>
      change(async (desk) => {
        const row = await find(tenant, dispatchId, desk)
        return row && { changed: cancelDispatch(row, desk.moves), dispatch: readDispatch(row) }
      }),

    retry: (tenant, dispatchId, options) =>
      change(async (desk, { now }) => {
        const row = await find(tenant, dispatchId, desk)
        return row && { changed: retryDispatch(row, options, now, desk.moves), dispatch: readDispatch(row) }
      }),

    findReplannable: (tenant, dispatchId) =>
      change(async (desk, { now }) => {
        const row = await find(tenant, dispatchId, desk)
        return row && readReplannable(row, now)
      }),

    replan: (tenant, dispatchId, version, deliveries, options) =>
      change(async (desk, { now }) => {
        const row = await find(tenant, dispatchId, desk)
        if (!row) return undefined
        const planned = dispatchRow({ ...row.head, deliveries }, options.expiresInMs, now)
        for (const delivery of planned.deliveries) await desk.prepare(delivery)
        const changed = replanDispatch(row, { ...options, version, deliveries }, now, desk.places, desk.moves)
        return changed ? { outcome: 'replanned', changed, dispatch: readDispatch(row) } : { outcome: 'conflict' }
      }),

    findDispatch: (tenant, dispatchId) =>
      change(async (desk) => {
        const row = await find(tenant, dispatchId, desk)
        return row && readDispatch(row)
      }),

    listDispatches: (query) =>
      change(async (desk, tx) => {
        const found: DispatchRow[] = []
        for (const { head } of await tx.list<DispatchDocument>(['dispatch'])) {
          const row = await find(query.tenant, head.dispatchId, desk)
          if (row && fits(row, query)) found.push(row)
        }
        const placeOf = ({ head }: DispatchRow): Key => [head.createdAt, head.dispatchId]
        const { items, ...rest } = page(found, placeOf, { ...query, first: query.first ?? 'newest' })
        return { ...rest, items: items.map(readDispatch) }
      }),

    removeDispatches: ({ tenant, acceptedForMs, limit }) =>
      change(async (desk, tx) => {
        let removed = 0
        for (const { head } of await tx.list<DispatchDocument>(['dispatch'])) {
          if (removed >= limit) break
          if (tx.now - head.createdAt <= acceptedForMs || !allAre([tenant, head.tenant])) continue
          const row = await desk.dispatch(head.dispatchId)
          if (!row || isOpenDispatch(row)) continue
          leaveDigests(row)
          desk.remove(row)
          removed += 1
        }
        return removed
      }),
  }
}

/** Leases what is due, oldest first. What is listed is a hint: it is looked at once more as the transaction sees it. */
async function claimDue({ leaseMs, limits, busy }: ClaimRequest, desk: Desk, tx: Transaction): Promise<Claims> {
  const { now } = tx
  const left = new Map(Object.entries(limits))
  const receivers = new Set(busy.map(({ channel, concurrencyKey }) => JSON.stringify([channel, concurrencyKey])))
  const deliveries: ClaimedDelivery[] = []
  const expired: Expired[] = []
  let nextAt = Number.POSITIVE_INFINITY

  for (const { deliveryId, channel, concurrencyKey, wakeAt, expiresAt } of await tx.list<Waiting>(['waiting'])) {
    const isBusy = receivers.has(JSON.stringify([channel, concurrencyKey]))
    const places = isBusy ? undefined : left.get(channel)
    if (wakeAt > now || (expiresAt > now && !places)) {
      if (places !== undefined) nextAt = Math.min(nextAt, Math.max(wakeAt, now))
      continue
    }
    const row = await desk.delivery(deliveryId)
    if (!row || row.slot < 0 || row.wakeAt > now) continue
    if (row.expiresAt <= now) {
      await readOwners(row, desk)
      expired.push(...expireDelivery(row, desk.moves))
    } else if (places) {
      if (!(await isFree(row, desk))) continue
      // Of its own for every lease: whoever had it before is refused from now on.
      const fence = crypto.randomUUID()
      const wasSending = row.status === 'sending'
      desk.moves.lease(row, fence, now + leaseMs)
      beginAttempt(row, now)
      deliveries.push(claimedDelivery(row, fence, now, wasSending))
      left.set(channel, places - 1)
      nextAt = Math.min(nextAt, now + leaseMs)
    }
  }
  return { deliveries, expired, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: nextAt - now }) }
}

/** Where its last lease ended without a word, and its end was asked for meanwhile, it is cancelled instead. */
async function isFree(row: DeliveryRow, desk: Desk): Promise<boolean> {
  if (row.status === 'sending' && row.cancelledBy) {
    await readOwners(row, desk)
    desk.moves.queue(row, row.wakeAt)
  }
  return isWaiting(row)
}

/** As it is now, whatever it was a moment ago. */
function isWaiting({ slot }: DeliveryRow): boolean {
  return slot >= 0
}

async function leased({ deliveryId, fence }: LeaseProof, desk: Desk): Promise<DeliveryRow | undefined> {
  const row = await desk.delivery(deliveryId)
  return row?.status === 'sending' && row.fence === fence ? row : undefined
}

/** The rules look at what else is in the dispatches of a delivery: what is held there follows. */
async function readOwners(row: DeliveryRow, desk: Desk): Promise<void> {
  for (const { head } of ownersOf(row)) await desk.dispatch(head.dispatchId)
}

async function find(tenant: string, dispatchId: string, desk: Desk): Promise<DispatchRow | undefined> {
  const row = await desk.dispatch(dispatchId)
  return row?.head.tenant === tenant ? row : undefined
}

/** What is past its time is forgotten here, whenever the database removes it. */
async function remembered(tx: Transaction, tenant: string, key: string): Promise<Remembered | undefined> {
  const found = await tx.get<Answered>(keyOf(tenant, key))
  return found && found.until > tx.now ? { fingerprint: found.fingerprint, answer: found.answer } : undefined
}

function keyOf(tenant: string, key: string): Key {
  return ['key', tenant, key]
}

function fits({ head, deliveries }: DispatchRow, query: DispatchQuery): boolean {
  const { sessionId, eventType, recipient, status, since = 0, until = Number.POSITIVE_INFINITY } = query
  const statuses = deliveries.map((delivery) => delivery.status)
  return (
    allAre([sessionId, head.sessionId], [eventType, head.eventType], [recipient, head.recipient]) &&
    allAre([status, statusOfDispatch(statuses, head.route)]) &&
    head.createdAt >= since &&
    head.createdAt < until
  )
}
