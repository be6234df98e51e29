import { facetsOf, type RunFacets } from '../../model/run-facets.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { Documents } from '../../ports/documents.ts'
import type { RemovalQuery, RunKey, RunQuery, StoredRun, StoredSession } from '../../ports/run-store.ts'
import type { SessionQuery } from '../../ports/session-query.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { timePart } from '../rules/time-part.ts'
import { documentKey, prefixOf } from './keys.ts'
import { readPage, walkDocuments } from './pages.ts'
import { type DocumentEntries, type Transaction, transact } from './transaction.ts'

/** Index document of a run: the fields that lists filter by. */
export interface ListedRun extends RunKey, RunFacets {}

const ALL_RUNS = 'all-runs/'
const OPEN_RUNS = 'open-runs/'
const PENDING_RUNS = 'pending-runs/'

export function runKey({ tenant, sessionId, runId }: RunKey): string {
  return documentKey('run', tenant, sessionId, runId)
}

export function sessionKey(tenant: string, sessionId: string): string {
  return documentKey('session', tenant, sessionId)
}

/** Prefix of the sessions of a tenant, by time of creation. */
function sessionsOf(tenant: string): string {
  return prefixOf('sessions', tenant)
}

/** Index document of a session: its id. */
export function sessionEntries(session: StoredSession | undefined): DocumentEntries {
  if (!session) return {}
  const { tenant, sessionId, createdAt } = session
  return { [`${sessionsOf(tenant)}${timePart(createdAt)}/${documentKey(sessionId)}`]: sessionId }
}

export function listSessionDocuments(query: SessionQuery, documents: Documents): Promise<Page<StoredSession>> {
  const { tenant, first = 'newest' } = query
  return readPage<string, StoredSession>(
    documents,
    sessionsOf(tenant),
    { ...query, first },
    {
      fits: () => true,
      read: (sessionId) => transact(documents, (tx) => tx.get(sessionKey(tenant, sessionId))),
    },
  )
}

export function descendantKey(tenant: string, sessionId: string, runId: string): string {
  return documentKey('descendants', tenant, sessionId, runId)
}

export function spendKey(tenant: string, userId: string): string {
  return documentKey('spend', tenant, userId)
}

export function runsOfTenant(tenant: string): string {
  return prefixOf('runs', tenant)
}

export function runsOfSession(tenant: string, sessionId: string): string {
  return prefixOf('session-runs', tenant, sessionId)
}

function listedRun({ tenant, state }: StoredRun): ListedRun {
  return { tenant, runId: state.runId, sessionId: state.sessionId, ...facetsOf(state) }
}

export function runEntries(run: StoredRun | undefined): DocumentEntries {
  if (!run) return {}
  const listed = listedRun(run)
  const { tenant, runId, sessionId, status } = listed
  const time = timePart(run.createdAt)
  const position = `${time}/${documentKey(sessionId, runId)}`
  const positionOfAll = `${time}/${documentKey(tenant, sessionId, runId)}`
  return {
    [runsOfTenant(tenant) + position]: listed,
    [`${runsOfSession(tenant, sessionId)}${time}/${documentKey(runId)}`]: listed,
    [ALL_RUNS + positionOfAll]: listed,
    ...(isOpenRun(status) && { [OPEN_RUNS + positionOfAll]: listed }),
    ...(run.derived.pending.length > 0 && { [PENDING_RUNS + positionOfAll]: listed }),
  }
}

export async function removeRun(
  tx: Transaction,
  key: RunKey,
  isRemovable: (run: StoredRun) => boolean,
): Promise<boolean> {
  const run = await tx.get<StoredRun>(runKey(key))
  if (!run || !isRemovable(run)) return false
  tx.put(runKey(key), undefined)
  tx.index(runEntries(run), {})
  return true
}

export async function listRunDocuments(query: RunQuery, documents: Documents): Promise<Page<StoredRun>> {
  const { silentForMs, pending } = query
  const now = await documents.now()
  const isMatch = (run: StoredRun): boolean =>
    fits(listedRun(run), query) &&
    (silentForMs === undefined || now - run.lastSeenAt > silentForMs) &&
    (!pending || run.derived.pending.length > 0)
  return readPage<ListedRun, StoredRun>(
    documents,
    indexFor(query),
    { ...query, first: query.first ?? 'oldest' },
    {
      fits: (listed) => fits(listed, query),
      async read(listed) {
        const run = await transact(documents, (tx) => tx.get<StoredRun>(runKey(listed)))
        return run && isMatch(run) ? run : undefined
      },
    },
  )
}

/** Removes runs one by one. Each transaction checks its run again. */
export async function removeRuns(query: RemovalQuery, documents: Documents): Promise<number> {
  const { tenant, status, unchangedForMs, limit } = query
  const changedBefore = Math.floor(await documents.now()) - unchangedForMs
  const isRemovable = (run: StoredRun): boolean =>
    status.includes(facetsOf(run.state).status) && run.updatedAt < changedBefore && run.derived.pending.length === 0
  let removed = 0
  // A run never changes before it is created, so newer runs need no check.
  for await (const { text } of walkDocuments(documents, ALL_RUNS, { first: 'oldest', until: changedBefore })) {
    if (removed >= limit) break
    const listed: ListedRun = JSON.parse(text)
    if (!status.includes(listed.status) || (tenant !== undefined && listed.tenant !== tenant)) continue
    if (await transact(documents, (tx) => removeRun(tx, listed, isRemovable))) removed += 1
  }
  return removed
}

function indexFor({ tenant, sessionId, status, pending }: RunQuery): string {
  if (pending) return PENDING_RUNS
  if (tenant === undefined) return status?.every(isOpenRun) ? OPEN_RUNS : ALL_RUNS
  return sessionId === undefined ? runsOfTenant(tenant) : runsOfSession(tenant, sessionId)
}

/** Whether a run matches a query. The index keys contain the times. */
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
