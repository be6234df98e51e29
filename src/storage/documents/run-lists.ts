import { facetsOf } from '../../model/run-facets.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { Documents } from '../../ports/documents.ts'
import type { RemovalQuery, RunQuery, StoredRun } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { readPage, walkDocuments } from './pages.ts'
import {
  ALL_RUNS,
  type ListedRun,
  listedRun,
  OPEN_RUNS,
  PENDING_RUNS,
  removeRun,
  runKey,
  runsOfSession,
  runsOfTenant,
} from './run-documents.ts'
import { transact } from './transaction.ts'

export async function listRunDocuments(query: RunQuery, documents: Documents): Promise<Page<StoredRun>> {
  const { silentForMs, pending } = query
  const now = await documents.now()
  const isNow = (run: StoredRun): boolean =>
    fits(listedRun(run), query) &&
    (silentForMs === undefined || now - run.lastSeenAt > silentForMs) &&
    (!pending || run.derived.pending.length > 0)
  return readPage<ListedRun, StoredRun>(
    documents,
    indexFor(query),
    { ...query, first: query.first ?? 'oldest' },
    {
      fits: (listed) => fits(listed, query),
      async read({ tenant, runId }) {
        const run = await transact(documents, (tx) => tx.get<StoredRun>(runKey(tenant, runId)))
        return run && isNow(run) ? run : undefined
      },
    },
  )
}

/** Removes runs one by one: each in a transaction that checks it again. */
export async function removeRuns(query: RemovalQuery, documents: Documents): Promise<number> {
  const { tenant, status, unchangedForMs, limit } = query
  const changedBefore = Math.floor(await documents.now()) - unchangedForMs
  const mayGo = (run: StoredRun): boolean =>
    status.includes(facetsOf(run.state).status) && run.updatedAt < changedBefore && run.derived.pending.length === 0
  let removed = 0
  // No run was changed before it was created.
  for await (const { text } of walkDocuments(documents, ALL_RUNS, { first: 'oldest', until: changedBefore })) {
    if (removed >= limit) break
    const listed: ListedRun = JSON.parse(text)
    if (!status.includes(listed.status) || (tenant !== undefined && listed.tenant !== tenant)) continue
    if (await transact(documents, (tx) => removeRun(tx, listed, mayGo))) removed += 1
  }
  return removed
}

/** The smallest index that has all runs of a query. */
function indexFor({ tenant, sessionId, status, pending }: RunQuery): string {
  if (pending) return PENDING_RUNS
  if (tenant === undefined) return status?.every(isOpenRun) ? OPEN_RUNS : ALL_RUNS
  return sessionId === undefined ? runsOfTenant(tenant) : runsOfSession(tenant, sessionId)
}

/** Whether a run has what a query asks for. The times are in the keys of the index. */
function fits(listed: ListedRun, { tenant, sessionId, status, provider, model, userId, tag }: RunQuery): boolean {
  return (
    (tenant === undefined || listed.tenant === tenant) &&
    (sessionId === undefined || listed.sessionId === sessionId) &&
    (status === undefined || status.includes(listed.status)) &&
    (provider === undefined || listed.provider === provider) &&
    (model === undefined || listed.model === model) &&
    (userId === undefined || listed.userId === userId) &&
    (tag === undefined || listed.tags.includes(tag))
  )
}
