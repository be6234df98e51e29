import type { RunFailure } from '../../model/run.ts'
import { facetsOf } from '../../model/run-facets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { MergeDecision, RemovalQuery, RunStore, StoredSession } from '../../ports/run-store.ts'
import { runAfter } from '../rules/apply-decision.ts'
import { copyJson } from '../rules/copy-json.ts'
import { runsAbove } from './run-ancestors.ts'
import { type Room, type RunRow, runShelves, type Shelf } from './run-indexes.ts'
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
  const shelves = runShelves()
  const shelfOf = (tenant: string): Shelf | undefined => shelves.byTenant.get(tenant)

  /** Those that fit of one tenant: what changed longest ago goes first. */
  function removeFrom(shelf: Shelf, { status, unchangedForMs }: RemovalQuery, limit: number): number {
    const updatedBefore = clock.now() - unchangedForMs
    let removed = 0
    for (const each of status)
      removed += removeAll(shelf, removable(shelf.byAge.get(each), updatedBefore, limit - removed))
    return removed
  }

  function removeAll(shelf: Shelf, rows: readonly RunRow[]): number {
    shelves.removeAll(shelf, rows)
    return rows.length
  }

  return {
    async mergeRun(key, decide) {
      const { tenant, sessionId, runId } = key
      let shelf = shelfOf(tenant)
      let room = shelf?.rooms.get(sessionId)
      const row = shelf?.byId.get(runId)
      const decision = decide({
        run: row?.run,
        session: room?.session,
        below: room?.below.get(runId),
        above: runsAbove(key, row?.run, shelf, room),
      })

      const now = clock.now()
      const run = runAfter(row?.run, decision, tenant, now)
      if (decision.state) {
        shelf ??= shelves.openShelf(tenant)
        room ??= shelves.openRoom(shelf, tenant, sessionId, now)
      }
      if (shelf && room) changeSession(shelf, room, decision, now)
      if (run === undefined) return { result: decision.result }
      if (shelf && row) shelves.replace(shelf, row, run)
      else if (shelf && room) shelves.add(shelf, room, run)
      return { result: decision.result, run }
    },

    async findRun(tenant, runId) {
      return copyJson(shelfOf(tenant)?.byId.get(runId)?.run)
    },

    async listRuns(query) {
      return runPage(shelves, query, clock.now())
    },

    async openSession(tenant, sessionId) {
      return readSession(shelves.openRoom(shelves.openShelf(tenant), tenant, sessionId, clock.now()))
    },

    async findSession(tenant, sessionId) {
      const room = shelfOf(tenant)?.rooms.get(sessionId)
      return room && readSession(room)
    },

    async findSpend(tenant, userId, sinceDay) {
      return spendSince(shelfOf(tenant), userId, sinceDay)
    },

    async removeRuns(query) {
      const { tenant, limit } = query
      let removed = 0
      for (const shelf of tenant === undefined ? shelves.byTenant.values() : [shelfOf(tenant)])
        if (shelf && removed < limit) removed += removeFrom(shelf, query, limit - removed)
      return removed
    },

    async erase(tenant, of) {
      const shelf = shelfOf(tenant)
      if (!shelf) return 0
      if ('userId' in of) {
        const rows = [...shelf.rows.up()].filter(({ run }) => facetsOf(run.state).userId === of.userId)
        forgetSpend(shelf, of.userId)
        forgetFailures(shelf, of.userId, new Set(rows.map(({ run }) => run.state.runId)))
        return removeAll(shelf, rows)
      }
      const rows = [...(shelf.rooms.get(of.sessionId)?.rows.up() ?? [])]
      shelf.rooms.delete(of.sessionId)
      return removeAll(shelf, rows)
    },
  }
}

/** The first that are old enough and have nothing untold. They are listed before any is taken out: that moves the others. */
function removable(rows: SortedList<RunRow> | undefined, updatedBefore: number, limit: number): readonly RunRow[] {
  const found: RunRow[] = []
  if (rows === undefined || limit <= 0) return found
  for (const row of rows.up()) {
    if (row.run.updatedAt >= updatedBefore) break
    if (row.run.account.untold.length === 0) found.push(row)
    if (found.length >= limit) break
  }
  return found
}

function changeSession(shelf: Shelf, room: Room, decision: MergeDecision<unknown>, now: number): void {
  const { state, tallies, failures } = decision
  if (state) room.session.updatedAt = now
  if (failures) room.session.failures = failures
  if (tallies) addSums(tallies, shelf, room, now)
}

/** Those of these runs, and those that name the user: a run may be gone by now. */
function forgetFailures(shelf: Shelf, userId: string, runIds: ReadonlySet<string>): void {
  const isTheirs = (failure: RunFailure): boolean => failure.userId === userId || runIds.has(failure.runId)
  for (const { session } of shelf.rooms.values())
    if (session.failures.some(isTheirs)) session.failures = session.failures.filter((failure) => !isTheirs(failure))
}

/** Its tally is the one that is added to. */
function readSession({ session }: Room): StoredSession {
  return { ...session, failures: copyJson(session.failures) }
}
