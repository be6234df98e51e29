import { statusOfDispatch } from '../../model/dispatch-status.ts'
import type { DispatchQuery } from '../../ports/dispatch-store.ts'
import type { DispatchRow } from '../deliveries/dispatch-rows.ts'
import { entry } from './run-shelves.ts'
import { SortedList } from './sorted-list.ts'

/** What is kept of one tenant, by place. */
interface Shelf {
  readonly rows: SortedList<DispatchRow>
  readonly bySession: Map<string, SortedList<DispatchRow>>
}

/** One page of dispatches. */
interface RowPage {
  readonly rows: readonly DispatchRow[]
  readonly nextCursor?: string
}

/** The dispatches of all tenants, in the lists that something is looked for in: a row is in or out of each. */
export interface DispatchShelves {
  find(tenant: string, dispatchId: string): DispatchRow | undefined
  add(row: DispatchRow): void
  remove(row: DispatchRow): void
  /** All, or those of a tenant, oldest first. */
  all(tenant: string | undefined): Iterable<DispatchRow>
  /**
   * The cursor is the place of the row that the page ends with: it stays right while rows come and go; one that is not ours
   * starts from the beginning. Where very few rows fit, the page ends early.
   */
  page(query: DispatchQuery): RowPage
}

/** Looked at for one page at most, so that a list of which little fits does not hold up everything else. */
const MAX_SEEN = 10_000

export function dispatchShelves(): DispatchShelves {
  const byId = new Map<string, DispatchRow>()
  const byTenant = new Map<string, Shelf>()
  const everywhere = newList()
  let places = 0

  return {
    find(tenant, dispatchId) {
      const row = byId.get(dispatchId)
      return row?.head.tenant === tenant ? row : undefined
    },

    add(row) {
      const { dispatchId, tenant, sessionId } = row.head
      row.place = ++places
      byId.set(dispatchId, row)
      everywhere.add(row)
      const shelf = entry(byTenant, tenant, (): Shelf => ({ rows: newList(), bySession: new Map() }))
      shelf.rows.add(row)
      if (sessionId !== undefined) entry(shelf.bySession, sessionId, newList).add(row)
    },

    remove(row) {
      const { dispatchId, tenant, sessionId } = row.head
      byId.delete(dispatchId)
      everywhere.delete(row)
      const shelf = byTenant.get(tenant)
      shelf?.rows.delete(row)
      if (sessionId === undefined) return
      const ofSession = shelf?.bySession.get(sessionId)
      ofSession?.delete(row)
      if (ofSession?.first === undefined) shelf?.bySession.delete(sessionId)
    },

    all: (tenant) => (tenant === undefined ? everywhere.up() : (byTenant.get(tenant)?.rows.up() ?? [])),

    page(query) {
      const { tenant, sessionId, limit } = query
      const shelf = byTenant.get(tenant)
      const list = sessionId === undefined ? shelf?.rows : shelf?.bySession.get(sessionId)
      const rows: DispatchRow[] = []
      let seen = 0
      let last = 0
      for (const row of list ? walk(list, query) : []) {
        if (fits(row, query)) {
          if (rows.length >= limit) return { rows, nextCursor: String(last) }
          rows.push(row)
          last = row.place
        }
        if (++seen >= MAX_SEEN) return { rows, nextCursor: String(row.place) }
      }
      return { rows }
    },
  }
}

function newList(): SortedList<DispatchRow> {
  return new SortedList((one, other) => one.place < other.place)
}

function walk(rows: SortedList<DispatchRow>, { first = 'newest', cursor }: DispatchQuery): Iterable<DispatchRow> {
  const place = cursor !== undefined && /^\d{1,15}$/.test(cursor) ? Number(cursor) : undefined
  if (first === 'oldest') return rows.up(place === undefined ? undefined : (row) => row.place <= place)
  return rows.down(place === undefined ? undefined : (row) => row.place < place)
}

function fits({ head, deliveries }: DispatchRow, query: DispatchQuery): boolean {
  const { eventType, recipient, status, since, until } = query
  return (
    (eventType === undefined || head.eventType === eventType) &&
    (recipient === undefined || head.recipient === recipient) &&
    (since === undefined || head.createdAt >= since) &&
    (until === undefined || head.createdAt < until) &&
    (status === undefined ||
      status ===
        statusOfDispatch(
          deliveries.map((delivery) => delivery.status),
          head.route,
        ))
  )
}
