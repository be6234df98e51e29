import { copyJson } from '../../model/json.ts'
import { facetsOf } from '../../model/run-facets.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { type FacetName, type RunIndexes, type RunRow, runsBy } from './run-indexes.ts'
import type { SortedList } from './sorted-list.ts'
import { cursorAt, isPlacedBelow, walkList } from './walk-list.ts'

/** Looked at for one page at most, so that a combination that little fits does not hold up everything else. */
const MAX_SEEN = 10_000

/**
 * One page of runs, in the order in which they were created. Where very few runs fit a combination of filters, the page ends early:
 * a filter that stands alone has lists of its own.
 */
export function runPage(tenants: RunIndexes, query: RunQuery, now: number): Page<StoredRun> {
  const items: StoredRun[] = []
  let seen = 0
  let last: string | undefined = query.cursor
  // Where lists are not in the order of time, all of a list is held against it.
  const range = tenants.isInOrder ? query : { first: query.first, cursor: query.cursor }
  for (const row of walk(listsFor(tenants, query), range)) {
    if (fits(row.run, query, now)) {
      if (items.length >= query.limit) return { items, ...(last !== undefined && { nextCursor: last }) }
      items.push(copyJson(row.run))
      last = cursorAt(row)
    }
    if (++seen >= MAX_SEEN) return { items, nextCursor: cursorAt(row) }
  }
  return { items }
}

type List = SortedList<RunRow>

/** The lists that have all that may fit, and nothing twice: the shortest, as a rule. */
function listsFor({ byTenant, all, open, pending }: RunIndexes, query: RunQuery): readonly List[] {
  const { tenant, sessionId, status, userId, tag, model, provider } = query
  if (query.pending) return [pending]
  if (tenant === undefined) return [status?.every(isOpenRun) ? open : all]
  const tenantIndexes = byTenant.get(tenant)
  if (!tenantIndexes) return []
  const by = (name: FacetName, values: readonly string[]): readonly List[] =>
    [...new Set(values)].flatMap((value) => runsBy(tenantIndexes, name).get(value) ?? [])
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) {
    const room = tenantIndexes.rooms.get(sessionId)
    return room ? [room.rows] : []
  }
  if (userId !== undefined) return by('userId', [userId])
  if (tag !== undefined) return by('tag', [tag])
  if (isRare) return by('status', status)
  if (model !== undefined) return by('model', [model])
  if (provider !== undefined) return by('provider', [provider])
  return status === undefined ? [tenantIndexes.rows] : by('status', status)
}

/** The rows of several lists in one order. */
function* walk(
  lists: readonly List[],
  query: Pick<RunQuery, 'first' | 'since' | 'until' | 'cursor'>,
): Generator<RunRow, void, undefined> {
  const { first = 'oldest' } = query
  const walks = lists.map((list) => walkList(list, (row) => row, first, query))
  const heads = walks.map((rows) => rows.next())
  for (;;) {
    let next = -1
    for (const [at, { done, value }] of heads.entries()) {
      if (done || !value) continue
      const best = heads[next]?.value
      if (!best || isPlacedBelow(value, best) === (first === 'oldest')) next = at
    }
    const row = heads[next]?.value
    const rows = walks[next]
    if (!row || !rows) return
    yield row
    heads[next] = rows.next()
  }
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
