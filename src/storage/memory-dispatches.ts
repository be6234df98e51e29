import type { DispatchAnswer, DispatchHead, DispatchStatus } from '../model/dispatch.ts'
import { statusOfDispatch } from '../model/dispatch-status.ts'
import type { Clock } from '../ports/clock.ts'
import type { DispatchQuery, DispatchStore } from '../ports/dispatch-store.ts'
import { acceptDispatch } from './accept-dispatch.ts'
import { cancelDispatch, retryDispatch } from './change-dispatch.ts'
import { claimDue } from './claim-due.ts'
import { compoundKey } from './compound-key.ts'
import { copyJson } from './copy-json.ts'
import { readDispatch } from './delivery-copies.ts'
import { transitions } from './delivery-transitions.ts'
import type { DeliveryRow, DispatchRow } from './dispatch-rows.ts'
import { dueLanes } from './due-lanes.ts'
import { type Expiring, expiringMap } from './expiring-map.ts'
import { openDigests } from './open-digests.ts'
import { pageOf } from './paging.ts'
import { sendLimits } from './send-limits.ts'
import { settleDelivery } from './settle-delivery.ts'

/** What is kept of one tenant, in the order in which it came. */
interface Shelf {
  readonly dispatches: DispatchRow[]
  readonly bySession: Map<string, DispatchRow[]>
}

interface Answered extends Expiring {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

/** The dispatch half of the memory store. Every method runs to its end in one turn of the loop: nothing can come between. */
export function memoryDispatches(clock: Pick<Clock, 'now'>): DispatchStore {
  const dispatches = new Map<string, DispatchRow>()
  const shelves = new Map<string, Shelf>()
  const answered = expiringMap<Answered>()
  const lanes = dueLanes<DeliveryRow>()
  const digests = openDigests()
  const moves = transitions(lanes, digests, sendLimits())

  function put(row: DispatchRow): void {
    const { dispatchId, tenant, sessionId } = row.head
    dispatches.set(dispatchId, row)
    const shelf = entry(shelves, tenant, (): Shelf => ({ dispatches: [], bySession: new Map() }))
    shelf.dispatches.push(row)
    if (sessionId !== undefined) entry(shelf.bySession, sessionId, (): DispatchRow[] => []).push(row)
  }

  function find(tenant: string, dispatchId: string): DispatchRow | undefined {
    const row = dispatches.get(dispatchId)
    return row?.head.tenant === tenant ? row : undefined
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
      const row = acceptDispatch(acceptance, now, digests, moves)
      put(row)
      const given = answer(readDispatch(row))
      if (idempotency && key !== undefined) {
        const { fingerprint, ttlMs } = idempotency
        answered.keep({ key, fingerprint, answer: copyJson(given), wakeAt: 0, slot: -1 }, now + ttlMs, now)
      }
      return { outcome: 'accepted', answer: given }
    },

    async claim(request) {
      return claimDue(request, clock.now(), lanes, moves)
    },

    async renew(lease, leaseMs) {
      const row = moves.leased(lease)
      if (row) moves.extend(row, clock.now() + leaseMs)
      return row !== undefined
    },

    async settle(settlement) {
      const row = moves.leased(settlement)
      return row ? settleDelivery(row, settlement, clock.now(), moves) : { live: false }
    },

    async cancel(tenant, dispatchId) {
      const row = find(tenant, dispatchId)
      return row && { changed: cancelDispatch(row, moves), dispatch: readDispatch(row) }
    },

    async retry(tenant, dispatchId, options) {
      const row = find(tenant, dispatchId)
      return row && { changed: retryDispatch(row, options, clock.now(), moves), dispatch: readDispatch(row) }
    },

    async findDispatch(tenant, dispatchId) {
      const row = find(tenant, dispatchId)
      return row && readDispatch(row)
    },

    async listDispatches(query) {
      const { tenant, sessionId, first = 'newest', limit, cursor } = query
      const shelf = shelves.get(tenant)
      const rows = sessionId === undefined ? shelf?.dispatches : shelf?.bySession.get(sessionId)
      const page = pageOf(rows ?? [], first, limit, cursor, (row) => fits(row, query))
      return { ...page, items: page.items.map(readDispatch) }
    },
  }
}

function fits(
  { head, deliveries }: DispatchRow,
  { eventType, recipient, status, since, until }: DispatchQuery,
): boolean {
  return (
    (eventType === undefined || head.eventType === eventType) &&
    (recipient === undefined || head.recipient === recipient) &&
    (since === undefined || head.createdAt >= since) &&
    (until === undefined || head.createdAt < until) &&
    (status === undefined || status === statusOf(deliveries, head))
  )
}

function statusOf(deliveries: readonly DeliveryRow[], { route }: DispatchHead): DispatchStatus {
  return statusOfDispatch(
    deliveries.map((delivery) => delivery.status),
    route,
  )
}

function entry<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
