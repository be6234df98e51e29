import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import { currentStatus, type DispatchRow } from '../rules/dispatch-rows.ts'
import { entry } from './run-indexes.ts'
import { SortedList } from './sorted-list.ts'
import { cursorAt, type ListPosition, walkList } from './walk-list.ts'

type List = SortedList<DispatchRow>

/** What is kept of one tenant: lists in the order of {@link ListPosition}. A list that nothing is in is not kept. */
interface TenantIndexes {
  readonly rows: List
  readonly bySession: Map<string, List>
  readonly byRecipient: Map<string, List>
  readonly byEventType: Map<string, List>
  readonly byStatus: Map<string, List>
}

/** One page of dispatches. */
interface RowPage {
  readonly rows: readonly DispatchRow[]
  readonly nextCursor?: string
}

/** The dispatches of all tenants, in the lists that something is looked for in: a row is in or out of each. */
export interface DispatchIndexes {
  find(tenant: string, dispatchId: string): DispatchRow | undefined
  add(row: DispatchRow): void
  remove(row: DispatchRow): void
  /** To be called when one of its deliveries is another one, or has another status. */
  update(row: DispatchRow): void
  /** All, or those of a tenant, oldest first. */
  all(tenant: string | undefined): Iterable<DispatchRow>
  /**
   * The cursor is the place of the row that the page ends with: it stays right while rows come and go; one that is not ours
   * starts from the beginning. Where very few rows fit, the page ends early.
   */
  page(query: DispatchQuery): RowPage
}

/** Looked at for one page at most, so that a combination that little fits does not hold up everything else. */
const MAX_SEEN = 10_000

export function dispatchIndexes(): DispatchIndexes {
  const byId = new Map<string, DispatchRow>()
  const byTenant = new Map<string, TenantIndexes>()
  const everywhere = newList()
  let places = 0

  return {
    find(tenant, dispatchId) {
      const row = byId.get(dispatchId)
      return row?.head.tenant === tenant ? row : undefined
    },

    add(row) {
      row.place = ++places
      byId.set(row.head.dispatchId, row)
      everywhere.add(row)
      const tenantIndexes = entry(byTenant, row.head.tenant, newIndexes)
      tenantIndexes.rows.add(row)
      row.listed = currentStatus(row)
      const { recipient, eventType, sessionId } = row.head
      entry(tenantIndexes.byRecipient, recipient, newList).add(row)
      entry(tenantIndexes.byEventType, eventType, newList).add(row)
      entry(tenantIndexes.byStatus, row.listed, newList).add(row)
      if (sessionId !== undefined) entry(tenantIndexes.bySession, sessionId, newList).add(row)
    },

    remove(row) {
      const { dispatchId, tenant, recipient, eventType, sessionId } = row.head
      byId.delete(dispatchId)
      everywhere.delete(row)
      const tenantIndexes = byTenant.get(tenant)
      if (!tenantIndexes) return
      tenantIndexes.rows.delete(row)
      removeFrom(tenantIndexes.byRecipient, recipient, row)
      removeFrom(tenantIndexes.byEventType, eventType, row)
      if (row.listed !== undefined) removeFrom(tenantIndexes.byStatus, row.listed, row)
      if (sessionId !== undefined) removeFrom(tenantIndexes.bySession, sessionId, row)
      row.listed = undefined
    },

    update(row) {
      if (row.listed === undefined) return
      const status = currentStatus(row)
      const lists = byTenant.get(row.head.tenant)?.byStatus
      if (status === row.listed || !lists) return
      removeFrom(lists, row.listed, row)
      row.listed = status
      entry(lists, status, newList).add(row)
    },

    all: (tenant) => (tenant === undefined ? everywhere.up() : (byTenant.get(tenant)?.rows.up() ?? [])),

    page(query) {
      const { tenant, limit } = query
      const tenantIndexes = byTenant.get(tenant)
      const list = tenantIndexes && listFor(tenantIndexes, query)
      const rows: DispatchRow[] = []
      let seen = 0
      let last: string | undefined = query.cursor
      for (const row of list ? walkList(list, placeOf, query.first ?? 'newest', query) : []) {
        if (fits(row, query)) {
          if (rows.length >= limit) return { rows, ...(last !== undefined && { nextCursor: last }) }
          rows.push(row)
          last = cursorAt(placeOf(row))
        }
        if (++seen >= MAX_SEEN) return { rows, nextCursor: cursorAt(placeOf(row)) }
      }
      return { rows }
    },
  }
}

function newList(): List {
  return new SortedList(isBelow)
}

/** As `isPlacedBelow` has it, but it makes no objects: this is for every acceptance, in every list. */
function isBelow(one: DispatchRow, other: DispatchRow): boolean {
  const age = one.head.createdAt - other.head.createdAt
  return age < 0 || (age === 0 && one.place < other.place)
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

/** The list that has all that may fit: the shortest, as a rule. What else is asked for is held against each row of it. */
function listFor(
  tenantIndexes: TenantIndexes,
  { sessionId, recipient, status, eventType }: DispatchQuery,
): List | undefined {
  if (sessionId !== undefined) return tenantIndexes.bySession.get(sessionId)
  if (recipient !== undefined) return tenantIndexes.byRecipient.get(recipient)
  if (eventType !== undefined && (status === undefined || status === 'sent'))
    return tenantIndexes.byEventType.get(eventType)
  return status === undefined ? tenantIndexes.rows : tenantIndexes.byStatus.get(status)
}

function placeOf({ head, place }: DispatchRow): ListPosition {
  return { at: head.createdAt, place }
}

function fits({ head, listed }: DispatchRow, query: DispatchQuery): boolean {
  const { sessionId, eventType, recipient, status } = query
  return (
    (sessionId === undefined || head.sessionId === sessionId) &&
    (eventType === undefined || head.eventType === eventType) &&
    (recipient === undefined || head.recipient === recipient) &&
    (status === undefined || listed === status)
  )
}
