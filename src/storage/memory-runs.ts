import type { Clock } from '../ports/clock.ts'
import type { RunStore, StoredRun, StoredSession } from '../ports/run-store.ts'
import { pageOf } from './paging.ts'

/** A run in its place: lists keep the row, and what is stored of the run is replaced in it. */
interface Row {
  run: StoredRun
}

interface Room {
  session: StoredSession
  readonly rows: Row[]
}

/** What is kept of one tenant. */
interface Shelf {
  readonly byId: Map<string, Row>
  /** In the order in which they were created. */
  readonly rows: Row[]
  readonly rooms: Map<string, Room>
}

/**
 * The runs of a memory store.
 *
 * A merge reads, decides and writes within one turn of the event loop: no other comes between. What is stored is never
 * changed but replaced, so that states may share their parts.
 */
export function memoryRuns(clock: Pick<Clock, 'now'>): RunStore {
  const shelves = new Map<string, Shelf>()
  return {
    async mergeRun({ tenant, sessionId, runId }, decide) {
      const shelf = shelves.get(tenant)
      const row = shelf?.byId.get(runId)
      const sessionExists = shelf?.rooms.has(sessionId) ?? false
      const { write, result } = decide({ current: row?.run.state, sessionExists })
      if (write === undefined) return row ? { result, run: row.run } : { result }
      const now = clock.now()
      const revision = (row?.run.revision ?? 0) + 1
      const run: StoredRun = { tenant, state: write, createdAt: row?.run.createdAt ?? now, updatedAt: now, revision }
      const shelfNow = shelf ?? shelfOf(shelves, tenant)
      const room = roomOf(shelfNow, tenant, write.sessionId, now)
      if (room.session.updatedAt !== now) room.session = { ...room.session, updatedAt: now }
      if (row) row.run = run
      else add(shelfNow, room, { run })
      return { result, run }
    },
    async findRun(tenant, runId) {
      const row = shelves.get(tenant)?.byId.get(runId)
      return row && structuredClone(row.run)
    },
    async listRuns({ tenant, sessionId, limit, cursor }) {
      const shelf = shelves.get(tenant)
      const rows = sessionId === undefined ? shelf?.rows : shelf?.rooms.get(sessionId)?.rows
      const { items, ...page } = pageOf(rows ?? [], 'oldest', limit, cursor)
      return { ...page, items: structuredClone(items.map(({ run }) => run)) }
    },
    async openSession(tenant, sessionId) {
      return { ...roomOf(shelfOf(shelves, tenant), tenant, sessionId, clock.now()).session }
    },
    async findSession(tenant, sessionId) {
      const session = shelves.get(tenant)?.rooms.get(sessionId)?.session
      return session && { ...session }
    },
  }
}

function add(shelf: Shelf, room: Room, row: Row): void {
  shelf.byId.set(row.run.state.runId, row)
  shelf.rows.push(row)
  room.rows.push(row)
}

function shelfOf(shelves: Map<string, Shelf>, tenant: string): Shelf {
  const found = shelves.get(tenant)
  if (found) return found
  const shelf: Shelf = { byId: new Map(), rows: [], rooms: new Map() }
  shelves.set(tenant, shelf)
  return shelf
}

function roomOf(shelf: Shelf, tenant: string, sessionId: string, now: number): Room {
  const found = shelf.rooms.get(sessionId)
  if (found) return found
  const room: Room = { session: { tenant, sessionId, createdAt: now, updatedAt: now }, rows: [] }
  shelf.rooms.set(sessionId, room)
  return room
}
