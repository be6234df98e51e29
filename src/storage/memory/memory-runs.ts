import { dayOf } from '../../model/day.ts'
import { copyJson } from '../../model/json.ts'
import type { RunFailure } from '../../model/run.ts'
import { facetsOf } from '../../model/run-facets.ts'
import { MAX_ANCESTORS } from '../../model/run-tree-limit.ts'
import { addSpend, addTotals, noSpend, noTotals } from '../../model/totals.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  MergeDecision,
  MergeKey,
  MergeSnapshot,
  RemovalQuery,
  RunAncestor,
  RunStore,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from '../../ports/run-store.ts'
import { applyDecision, countedParent, isOfUser, parentsOf, removeUser } from '../rules/run-rules.ts'
import { cursorAt, readRange } from './list-range.ts'
import { mapEntry, type RunRow, runIndexes, type SessionEntry, type TenantIndexes } from './run-indexes.ts'
import { runPage } from './run-pages.ts'

/** Every method completes in one turn of the event loop, so methods never interleave. Stored runs are replaced, never changed. */
export function memoryRuns(clock: Pick<Clock, 'now'>): RunStore {
  const runs = runIndexes()
  const indexesOf = (tenant: string): TenantIndexes | undefined => runs.byTenant.get(tenant)

  function removeAll(indexes: TenantIndexes, rows: readonly RunRow[]): number {
    for (const row of rows) runs.remove(indexes, row)
    return rows.length
  }

  return {
    async mergeRun(key, decide) {
      const { tenant, sessionId, runId } = key
      let indexes = indexesOf(tenant)
      let entry = indexes?.sessions.get(sessionId)
      const row = entry?.byId.get(runId)
      const { ancestors, newAncestors } = runAncestors(key, row?.run, entry)
      const decision = decide({
        run: row?.run,
        session: entry?.session,
        descendants: entry?.descendants.get(runId),
        ancestors,
        newAncestors,
      })

      const now = clock.now()
      const run = applyDecision(row?.run, decision, tenant, now)
      if (decision.state) {
        indexes ??= runs.openTenant(tenant)
        entry ??= runs.openSession(indexes, tenant, sessionId, now)
      }
      if (indexes && entry) changeSession(indexes, entry, decision, now)
      if (run === undefined) return { result: decision.result }
      if (indexes && row) runs.replace(indexes, row, run)
      else if (indexes && entry) runs.add(indexes, entry, run)
      return { result: decision.result, run }
    },

    async findRun({ tenant, sessionId, runId }) {
      return copyJson(indexesOf(tenant)?.sessions.get(sessionId)?.byId.get(runId)?.run)
    },

    async listRuns(query) {
      return runPage(runs, query, clock.now())
    },

    async openSession(tenant, sessionId) {
      return readSession(runs.openSession(runs.openTenant(tenant), tenant, sessionId, clock.now()))
    },

    async findSession(tenant, sessionId) {
      const entry = indexesOf(tenant)?.sessions.get(sessionId)
      return entry && readSession(entry)
    },

    async listSessions({ tenant, limit, first = 'newest', ...range }) {
      const items: StoredSession[] = []
      let last: SessionEntry | undefined
      const list = indexesOf(tenant)?.sessionList
      for (const entry of list ? readRange(list, (one) => one, first, range) : []) {
        if (items.length >= limit) return { items, ...(last && { nextCursor: cursorAt(last) }) }
        items.push(readSession(entry))
        last = entry
      }
      return { items }
    },

    async findSpend(tenant, userId, sinceDay) {
      const sum = noSpend()
      for (const [day, spend] of indexesOf(tenant)?.spend.get(userId) ?? []) if (day >= sinceDay) addSpend(sum, spend)
      return sum
    },

    async removeRuns(query) {
      const { tenant, limit } = query
      const now = clock.now()
      let removed = 0
      for (const indexes of tenant === undefined ? runs.byTenant.values() : [indexesOf(tenant)])
        if (indexes && removed < limit)
          removed += removeAll(indexes, removableRows(indexes, query, now, limit - removed))
      return removed
    },

    async erase(tenant, of) {
      const indexes = indexesOf(tenant)
      if (!indexes) return 0
      if ('userId' in of) {
        const rows = [...indexes.rows.up()].filter((row) => isOf(of.userId, row))
        eraseSpend(indexes, of.userId)
        eraseFailures(indexes, of.userId)
        return removeAll(indexes, rows)
      }
      const entry = indexes.sessions.get(of.sessionId)
      if (!entry) return 0
      const rows = [...entry.rows.up()]
      runs.removeSession(indexes, entry)
      return removeAll(indexes, rows)
    },
  }
}

const NO_ANCESTORS: MergeSnapshot['ancestors'] = []

function runAncestors(
  key: MergeKey,
  run: StoredRun | undefined,
  entry: SessionEntry | undefined,
): Pick<MergeSnapshot, 'ancestors' | 'newAncestors'> {
  const { counted, named } = parentsOf(run, key)
  const ancestors = counted === undefined ? NO_ANCESTORS : ancestorsFrom(counted, entry)
  return named === undefined ? { ancestors } : { ancestors, newAncestors: ancestorsFrom(named, entry) }
}

function ancestorsFrom(parent: string, entry: SessionEntry | undefined): MergeSnapshot['ancestors'] {
  let runId: string | undefined = parent
  const ancestors: RunAncestor[] = []
  const visited = new Set<string>()
  while (runId !== undefined && ancestors.length < MAX_ANCESTORS && !visited.has(runId)) {
    visited.add(runId)
    const ancestor: StoredRun | undefined = entry?.byId.get(runId)?.run
    const descendants = entry?.descendants.get(runId)
    ancestors.push({ runId, ...(ancestor && { run: ancestor }), ...(descendants && { descendants }) })
    runId = ancestor && countedParent(ancestor)
  }
  return ancestors
}

function changeSession(
  indexes: TenantIndexes,
  { session, descendants }: SessionEntry,
  { state, totalsChanges, failures }: MergeDecision<unknown>,
  now: number,
): void {
  if (state) session.updatedAt = now
  if (failures) session.failures = failures
  if (!totalsChanges) return
  addTotals(session.totals, totalsChanges.session)
  for (const { runId, add } of totalsChanges.descendants) addTotals(mapEntry(descendants, runId, noTotals), add)
  addUserSpend(indexes, totalsChanges.users, now)
}

function addUserSpend({ spend }: TenantIndexes, users: TotalsChanges['users'], now: number): void {
  for (const { userId, add, at } of users) {
    const days = mapEntry(spend, userId, () => new Map())
    addSpend(mapEntry(days, dayOf(at ?? now), noSpend), add)
  }
}

function removableRows(
  { byAge }: TenantIndexes,
  { status, unchangedForMs }: RemovalQuery,
  now: number,
  limit: number,
): readonly RunRow[] {
  const found: RunRow[] = []
  for (const each of new Set(status))
    for (const row of byAge.get(each)?.up() ?? []) {
      if (found.length >= limit || row.run.updatedAt >= now - unchangedForMs) break
      if (row.run.derived.pending.length === 0) found.push(row)
    }
  return found
}

function eraseSpend({ spend, sessions }: TenantIndexes, userId: string): void {
  spend.delete(userId)
  for (const { descendants } of sessions.values()) for (const totals of descendants.values()) removeUser(totals, userId)
}

/** Call it before the runs are removed. Also compares the user: a run of the user may have been removed earlier. */
function eraseFailures({ sessions }: TenantIndexes, userId: string): void {
  for (const { session, byId } of sessions.values()) {
    const isErased = (failure: RunFailure): boolean =>
      isOfUser(failure, userId) || isOf(userId, byId.get(failure.runId))
    if (session.failures.some(isErased)) session.failures = session.failures.filter((failure) => !isErased(failure))
  }
}

function isOf(userId: string, row: RunRow | undefined): boolean {
  return row !== undefined && isOfUser(facetsOf(row.run.state), userId)
}

/** A copy of a session. Its totals are shared, not copied. */
function readSession({ session }: SessionEntry): StoredSession {
  return { ...session, failures: copyJson(session.failures) }
}
