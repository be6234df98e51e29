import type { Clock } from '../../ports/clock.ts'
import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import { digestKey, isOpenDigest, openedBefore } from '../rules/digests.ts'
import { currentStatus, type DeliveryRow, type DispatchRow } from '../rules/dispatch-rows.ts'
import { hasDelivery } from '../rules/has-delivery.ts'
import { cursorAt, type ListPosition, MAX_SCANNED, readRange } from './list-range.ts'
import { mapEntry } from './run-indexes.ts'
import { SortedList } from './sorted-list.ts'

type List = SortedList<DispatchRow>

/** Indexes of one tenant in the order of {@link ListPosition}. Empty lists are removed. */
interface TenantIndexes {
  readonly rows: List
  readonly bySession: Map<string, List>
  readonly byRecipient: Map<string, List>
  readonly byEventType: Map<string, List>
  readonly byStatus: Map<string, List>
}

interface RowPage {
  readonly rows: readonly DispatchRow[]
  readonly nextCursor?: string
}

export interface DispatchIndexes {
  find(tenant: string, dispatchId: string): DispatchRow | undefined
  findByDelivery(tenant: string, deliveryId: string): DispatchRow | undefined
  /** Whether any tenant has a dispatch of this id. */
  has(dispatchId: string): boolean
  /** Whether any tenant has a delivery of this id. */
  hasDelivery(deliveryId: string): boolean
  add(row: DispatchRow): void
  remove(row: DispatchRow): void
  /** Call this after a delivery was replaced or its status has changed. */
  update(row: DispatchRow): void
  /** Call this after the recipient has changed. */
  relist(row: DispatchRow, recipientBefore: string): void
  /** All dispatches, or those of a tenant, oldest first. */
  all(tenant: string | undefined): Iterable<DispatchRow>
  page(query: DispatchQuery): RowPage
}

export function dispatchIndexes(): DispatchIndexes {
  const byId = new Map<string, DispatchRow>()
  const byDelivery = new Map<string, DispatchRow>()
  const byTenant = new Map<string, TenantIndexes>()
  const ofAllTenants = newList()
  let added = 0

  return {
    find(tenant, dispatchId) {
      const row = byId.get(dispatchId)
      return row?.head.tenant === tenant ? row : undefined
    },

    findByDelivery(tenant, deliveryId) {
      const row = byDelivery.get(deliveryId)
      return row?.head.tenant === tenant ? row : undefined
    },

    has: (dispatchId) => byId.has(dispatchId),

    hasDelivery: (deliveryId) => byDelivery.has(deliveryId),

    add(row) {
      row.sequence = ++added
      byId.set(row.head.dispatchId, row)
      for (const { deliveryId } of row.deliveries) byDelivery.set(deliveryId, row)
      ofAllTenants.add(row)
      const indexes = mapEntry(byTenant, row.head.tenant, newIndexes)
      indexes.rows.add(row)
      row.listed = currentStatus(row)
      const { recipient, eventType, sessionId } = row.head
      mapEntry(indexes.byRecipient, recipient, newList).add(row)
      mapEntry(indexes.byEventType, eventType, newList).add(row)
      mapEntry(indexes.byStatus, row.listed, newList).add(row)
      if (sessionId !== undefined) mapEntry(indexes.bySession, sessionId, newList).add(row)
    },

    remove(row) {
      const { dispatchId, tenant, recipient, eventType, sessionId } = row.head
      byId.delete(dispatchId)
      for (const { deliveryId, dispatch: other } of row.deliveries) {
        if (byDelivery.get(deliveryId) !== row) continue
        // A digest stays with its other dispatches.
        if (other === row) byDelivery.delete(deliveryId)
        else byDelivery.set(deliveryId, other)
      }
      ofAllTenants.delete(row)
      const indexes = byTenant.get(tenant)
      if (!indexes) return
      indexes.rows.delete(row)
      removeFrom(indexes.byRecipient, recipient, row)
      removeFrom(indexes.byEventType, eventType, row)
      if (row.listed !== undefined) removeFrom(indexes.byStatus, row.listed, row)
      if (sessionId !== undefined) removeFrom(indexes.bySession, sessionId, row)
      row.listed = undefined
    },

    update(row) {
      if (row.listed === undefined) return
      const status = currentStatus(row)
      const lists = byTenant.get(row.head.tenant)?.byStatus
      if (status === row.listed || !lists) return
      removeFrom(lists, row.listed, row)
      row.listed = status
      mapEntry(lists, status, newList).add(row)
    },

    relist(row, recipientBefore) {
      const indexes = byTenant.get(row.head.tenant)
      if (!indexes) return
      removeFrom(indexes.byRecipient, recipientBefore, row)
      mapEntry(indexes.byRecipient, row.head.recipient, newList).add(row)
    },

    all: (tenant) => (tenant === undefined ? ofAllTenants.up() : (byTenant.get(tenant)?.rows.up() ?? [])),

    page(query) {
      const { tenant, limit } = query
      const indexes = byTenant.get(tenant)
      const list = indexes && listFor(indexes, query)
      const rows: DispatchRow[] = []
      let scanned = 0
      let last: string | undefined = query.cursor
      for (const row of list ? readRange(list, positionOf, query.first ?? 'newest', query) : []) {
        if (fits(row, query)) {
          if (rows.length >= limit) return { rows, ...(last !== undefined && { nextCursor: last }) }
          rows.push(row)
          last = cursorAt(positionOf(row))
        }
        if (++scanned >= MAX_SCANNED) return { rows, nextCursor: cursorAt(positionOf(row)) }
      }
      return { rows }
    },
  }
}

function newList(): List {
  return new SortedList(isBelow)
}

/** Same order as `isListedBelow`, but allocates no objects: it runs for every acceptance and list. */
function isBelow(one: DispatchRow, other: DispatchRow): boolean {
  const age = one.head.createdAt - other.head.createdAt
  return age < 0 || (age === 0 && one.sequence < other.sequence)
}

function newIndexes(): TenantIndexes {
  return {
    rows: newList(),
    bySession: new Map(),
    byRecipient: new Map(),
    byEventType: new Map(),
    byStatus: new Map(),
  }
}

function removeFrom(lists: Map<string, List>, name: string, row: DispatchRow): void {
  const list = lists.get(name)
  list?.delete(row)
  if (list?.first === undefined) lists.delete(name)
}

/** A list that contains all matches, usually the shortest one. `fits` checks the other filters. */
function listFor(indexes: TenantIndexes, { sessionId, recipient, status, eventType }: DispatchQuery): List | undefined {
  if (sessionId !== undefined) return indexes.bySession.get(sessionId)
  if (recipient !== undefined) return indexes.byRecipient.get(recipient)
  if (eventType !== undefined && (status === undefined || status === 'sent')) return indexes.byEventType.get(eventType)
  return status === undefined ? indexes.rows : indexes.byStatus.get(status)
}

function positionOf({ head, sequence }: DispatchRow): ListPosition {
  return { at: head.createdAt, sequence }
}

function fits(row: DispatchRow, query: DispatchQuery): boolean {
  const { head, listed } = row
  const { sessionId, eventType, recipient, status } = query
  return (
    (sessionId === undefined || head.sessionId === sessionId) &&
    (eventType === undefined || head.eventType === eventType) &&
    (recipient === undefined || head.recipient === recipient) &&
    (status === undefined || listed === status) &&
    hasDelivery(row, query)
  )
}

/** Digests that events can join, by key. */
export interface OpenDigests {
  update(row: DeliveryRow): void
  find(row: DeliveryRow): DeliveryRow | undefined
  readonly size: number
}

export function openDigests({ now }: Pick<Clock, 'now'>): OpenDigests {
  const byKey = new Map<string, Set<DeliveryRow>>()

  function remove(row: DeliveryRow, key: string): void {
    const rows = byKey.get(key)
    if (rows?.delete(row) && rows.size === 0) byKey.delete(key)
  }

  return {
    update(row) {
      const { digest } = row
      if (!digest) return
      const key = digestKey(row, digest)
      if (!isOpenDigest(row)) return remove(row, key)
      if (digest.opened === 0) digest.opened = now()
      mapEntry(byKey, key, () => new Set()).add(row)
    },

    find(row) {
      if (!row.digest) return undefined
      const key = digestKey(row, row.digest)
      let oldest: DeliveryRow | undefined
      for (const open of byKey.get(key) ?? []) {
        if (open.wakeAt <= now()) remove(open, key)
        else if (!oldest || openedBefore(open, oldest)) oldest = open
      }
      return oldest
    },

    get size() {
      return byKey.size
    },
  }
}
