import { facetsOf } from '../../model/run-facets.ts'
import type { Page } from '../../ports/dispatch-store.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { copyJson } from '../copy-json.ts'
import { isOpenRun } from '../open-run.ts'
import type { RunRow, RunShelves } from './run-shelves.ts'
import type { SortedList } from './sorted-list.ts'

/** Looked at for one page at most, so that a list of which little fits does not hold up everything else. */
const MAX_SEEN = 10_000

/**
 * One page of runs, in the order in which they were created. The cursor is the place of the run that the page
 * ends with: it stays right while runs come, go and change; one that is not ours starts from the beginning. Where very few
 * runs fit, the page ends early.
 */
export function runPage(shelves: RunShelves, query: RunQuery, now: number): Page<StoredRun> {
  const rows = rowsFor(shelves, query)
  if (rows === undefined) return { items: [] }
  const items: StoredRun[] = []
  let seen = 0
  let last = 0
  for (const row of walk(rows, query)) {
    if (fits(row.run, query, now)) {
      if (items.length >= query.limit) return { items, nextCursor: String(last) }
      items.push(copyJson(row.run))
      last = row.place
    }
    if (++seen >= MAX_SEEN) return { items, nextCursor: String(row.place) }
  }
  return { items }
}

/** The shortest list that has all that may fit; of what is untold it has no others. */
function rowsFor(
  { byTenant, all, open, untold }: RunShelves,
  { tenant, sessionId, status, untold: onlyUntold }: RunQuery,
): SortedList<RunRow> | undefined {
  if (onlyUntold) return untold
  const shelf = tenant === undefined ? undefined : byTenant.get(tenant)
  if (shelf && sessionId !== undefined) return shelf.rooms.get(sessionId)?.rows
  if (status?.every(isOpenRun)) return open
  return tenant === undefined ? all : shelf?.rows
}

function walk(rows: SortedList<RunRow>, { first = 'oldest', cursor }: RunQuery): Iterable<RunRow> {
  const place = cursor !== undefined && /^\d{1,15}$/.test(cursor) ? Number(cursor) : undefined
  if (first === 'oldest') return rows.up(place === undefined ? undefined : (row) => row.place <= place)
  return rows.down(place === undefined ? undefined : (row) => row.place < place)
}

function fits(run: StoredRun, query: RunQuery, now: number): boolean {
  const { tenant, sessionId, since, until, silentForMs } = query
  return (
    (tenant === undefined || run.tenant === tenant) &&
    (sessionId === undefined || run.state.sessionId === sessionId) &&
    (since === undefined || run.createdAt >= since) &&
    (until === undefined || run.createdAt < until) &&
    (silentForMs === undefined || now - run.lastSeenAt > silentForMs) &&
    shows(run, query)
  )
}

function shows({ state }: StoredRun, { status, provider, model, userId, tag }: RunQuery): boolean {
  const facets = facetsOf(state)
  return (
    (status === undefined || status.includes(facets.status)) &&
    (provider === undefined || facets.provider === provider) &&
    (model === undefined || facets.model === model) &&
    (userId === undefined || facets.userId === userId) &&
    (tag === undefined || facets.tags.includes(tag))
  )
}
