import { copyJson } from '../../model/json.ts'
import { facetsOf } from '../../model/run-facets.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { cursorAt, isListedBelow, type ListRange, MAX_SCANNED, readRange } from './list-range.ts'
import { type FacetName, type RunIndexes, type RunRow, runsBy } from './run-indexes.ts'
import type { SortedList } from './sorted-list.ts'

export function runPage(indexes: RunIndexes, query: RunQuery, now: number): Page<StoredRun> {
  const items: StoredRun[] = []
  let scanned = 0
  let last: string | undefined = query.cursor
  // Lists are not in the order of `createdAt` if the clock went back: read the whole list.
  const range = indexes.isInOrder ? query : { cursor: query.cursor }
  for (const row of readMerged(listsFor(indexes, query), query.first ?? 'oldest', range)) {
    if (fits(row.run, query, now)) {
      if (items.length >= query.limit) return { items, ...(last !== undefined && { nextCursor: last }) }
      items.push(copyJson(row.run))
      last = cursorAt(row)
    }
    if (++scanned >= MAX_SCANNED) return { items, nextCursor: cursorAt(row) }
  }
  return { items }
}

type List = SortedList<RunRow>

/** Disjoint lists that together contain all matches, usually the shortest ones. */
function listsFor({ byTenant, all, open, pending }: RunIndexes, query: RunQuery): readonly List[] {
  const { tenant, sessionId, status, userId, tag, model, provider } = query
  if (query.pending) return [pending]
  if (tenant === undefined) return [status?.every(isOpenRun) ? open : all]
  const indexes = byTenant.get(tenant)
  if (!indexes) return []
  const by = (name: FacetName, values: readonly string[]): readonly List[] =>
    [...new Set(values)].flatMap((value) => runsBy(indexes, name).get(value) ?? [])
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) {
    const entry = indexes.sessions.get(sessionId)
    return entry ? [entry.rows] : []
  }
  if (userId !== undefined) return by('userId', [userId])
  if (tag !== undefined) return by('tag', [tag])
  if (isRare) return by('status', status)
  if (model !== undefined) return by('model', [model])
  if (provider !== undefined) return by('provider', [provider])
  return status === undefined ? [indexes.rows] : by('status', status)
}

function* readMerged(
  lists: readonly List[],
  first: 'oldest' | 'newest',
  range: ListRange,
): Generator<RunRow, void, undefined> {
  const readers = lists.map((list) => readRange(list, (row) => row, first, range))
  const heads = readers.map((rows) => rows.next())
  for (;;) {
    let next = -1
    for (const [at, { done, value }] of heads.entries()) {
      if (done || !value) continue
      const best = heads[next]?.value
      if (!best || isListedBelow(value, best) === (first === 'oldest')) next = at
    }
    const row = heads[next]?.value
    const rows = readers[next]
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
    hasFacets(run, query)
  )
}

function hasFacets({ state }: StoredRun, { status, provider, model, userId, tag }: RunQuery): boolean {
  const facets = facetsOf(state)
  return (
    (status === undefined || status.includes(facets.status)) &&
    (provider === undefined || facets.provider === provider) &&
    (model === undefined || facets.model === model) &&
    (userId === undefined || facets.userId === userId) &&
    (tag === undefined || facets.tags.includes(tag))
  )
}
