import { copyJson } from '../../model/json.ts'
import type { RunFailure } from '../../model/run.ts'
import { facetsOf } from '../../model/run-facets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MergeDecision, RemovalQuery, RunStore, StoredSession } from '../../ports/run-store.ts'
import { applyDecision } from '../rules/run-rules.ts'
import { runAncestors } from './run-ancestors.ts'
import { type RunRow, runIndexes, type SessionEntry, type TenantIndexes } from './run-indexes.ts'
import { runPage } from './run-pages.ts'
import { addSums, forgetSpend, spendSince } from './run-sums.ts'
import type { SortedList } from './sorted-list.ts'

/**
 * The runs of a memory store.
 *
 * Every method reads, decides and writes within one turn of the event loop: no other comes between. A stored run is never
 * changed but replaced, so that states may share their parts; sessions and sums are changed where they are.
 */
export function memoryRuns(clock: Pick<Clock, 'now'>): RunStore {
  const tenants = runIndexes()
  const indexesOf = (tenant: string): TenantIndexes | undefined => tenants.byTenant.get(tenant)

  /** Those that fit of one tenant: what changed longest ago goes first. */
  function removeFrom(tenantIndexes: TenantIndexes, { status, unchangedForMs }: RemovalQuery, limit: number): number {
    const updatedBefore = clock.now() - unchangedForMs
    let removed = 0
    for (const each of status)
      removed += removeAll(tenantIndexes, removable(tenantIndexes.byAge.get(each), updatedBefore, limit - removed))
    return removed
  }

  function removeAll(tenantIndexes: TenantIndexes, rows: readonly RunRow[]): number {
    tenants.removeAll(tenantIndexes, rows)
    return rows.length
  }

  return {
    async mergeRun(key, decide) {
      const { tenant, sessionId, runId } = key
      let tenantIndexes = indexesOf(tenant)
      let room = tenantIndexes?.rooms.get(sessionId)
      const row = tenantIndexes?.byId.get(runId)
      const decision = decide({
        run: row?.run,
        session: room?.session,
        descendants: room?.descendants.get(runId),
        ancestors: runAncestors(key, row?.run, tenantIndexes, room),
      })

      const now = clock.now()
      const run = applyDecision(row?.run, decision, tenant, now)
      if (decision.state) {
        tenantIndexes ??= tenants.openIndexes(tenant)
        room ??= tenants.openRoom(tenantIndexes, tenant, sessionId, now)
      }
      if (tenantIndexes && room) changeSession(tenantIndexes, room, decision, now)
      if (run === undefined) return { result: decision.result }
      if (tenantIndexes && row) tenants.replace(tenantIndexes, row, run)
      else if (tenantIndexes && room) tenants.add(tenantIndexes, room, run)
      return { result: decision.result, run }
    },

    async findRun(tenant, runId) {
      return copyJson(indexesOf(tenant)?.byId.get(runId)?.run)
    },

    async listRuns(query) {
      return runPage(tenants, query, clock.now())
    },

    async openSession(tenant, sessionId) {
      return readSession(tenants.openRoom(tenants.openIndexes(tenant), tenant, sessionId, clock.now()))
    },

    async findSession(tenant, sessionId) {
      const room = indexesOf(tenant)?.rooms.get(sessionId)
      return room && readSession(room)
    },

    async findSpend(tenant, userId, sinceDay) {
      return spendSince(indexesOf(tenant), userId, sinceDay)
    },

    async removeRuns(query) {
      const { tenant, limit } = query
      let removed = 0
      for (const tenantIndexes of tenant === undefined ? tenants.byTenant.values() : [indexesOf(tenant)])
        if (tenantIndexes && removed < limit) removed += removeFrom(tenantIndexes, query, limit - removed)
      return removed
    },

    async erase(tenant, of) {
      const tenantIndexes = indexesOf(tenant)
      if (!tenantIndexes) return 0
      if ('userId' in of) {
        const rows = [...tenantIndexes.rows.up()].filter(({ run }) => facetsOf(run.state).userId === of.userId)
        forgetSpend(tenantIndexes, of.userId)
        forgetFailures(tenantIndexes, of.userId, new Set(rows.map(({ run }) => run.state.runId)))
        return removeAll(tenantIndexes, rows)
      }
      const rows = [...(tenantIndexes.rooms.get(of.sessionId)?.rows.up() ?? [])]
      tenantIndexes.rooms.delete(of.sessionId)
      return removeAll(tenantIndexes, rows)
    },
  }
}

/** The first that are old enough and have nothing untold. They are listed before any is taken out: that moves the others. */
function removable(rows: SortedList<RunRow> | undefined, updatedBefore: number, limit: number): readonly RunRow[] {
  const found: RunRow[] = []
  if (rows === undefined || limit <= 0) return found
  for (const row of rows.up()) {
    if (row.run.updatedAt >= updatedBefore) break
    if (row.run.derived.pending.length === 0) found.push(row)
    if (found.length >= limit) break
  }
  return found
}

function changeSession(
  tenantIndexes: TenantIndexes,
  room: SessionEntry,
  decision: MergeDecision<unknown>,
  now: number,
): void {
  const { state, totalsChanges, failures } = decision
  if (state) room.session.updatedAt = now
  if (failures) room.session.failures = failures
  if (totalsChanges) addSums(totalsChanges, tenantIndexes, room, now)
}

/** Those of these runs, and those that name the user: a run may be gone by now. */
function forgetFailures(tenantIndexes: TenantIndexes, userId: string, runIds: ReadonlySet<string>): void {
  const isTheirs = (failure: RunFailure): boolean => failure.userId === userId || runIds.has(failure.runId)
  for (const { session } of tenantIndexes.rooms.values())
    if (session.failures.some(isTheirs)) session.failures = session.failures.filter((failure) => !isTheirs(failure))
}

/** Its tally is the one that is added to. */
function readSession({ session }: SessionEntry): StoredSession {
  return { ...session, failures: copyJson(session.failures) }
}
