import type { RunState, RunStatus } from '../../model/run.ts'
import { noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { StoredRun, StoredSession } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { SortedList } from './sorted-list.ts'

/** A run in its place: lists keep the row, and what is stored of the run is replaced in it. */
export interface RunRow {
  run: StoredRun
  /** Grows with every run of the store. */
  readonly place: number
  /** When it was created, or the one before it, where the clock went back meanwhile. */
  readonly at: number
  readonly room: SessionEntry
}

/** What is kept of one session. */
export interface SessionEntry {
  readonly session: { -readonly [Name in keyof StoredSession]: StoredSession[Name] }
  /** By place. */
  readonly rows: SortedList<RunRow>
  /** The sums below runs, by their ids. */
  readonly descendants: Map<string, Totals>
}

/** What runs of a tenant are looked for by. */
export type FacetName = 'status' | 'provider' | 'model' | 'userId' | 'tag'

/** What is kept of one tenant. */
export interface TenantIndexes {
  readonly byId: Map<string, RunRow>
  /** By place. */
  readonly rows: SortedList<RunRow>
  /** By status, and then by when they last changed. */
  readonly byAge: Map<RunStatus, SortedList<RunRow>>
  /** Indexes, each in the order of a list: those that were asked for. A list that nothing is in is not kept. */
  readonly byFacet: Map<FacetName, Map<string, SortedList<RunRow>>>
  readonly rooms: Map<string, SessionEntry>
  /** By user, and then by day. */
  readonly spend: Map<string, Map<number, Spend>>
}

/** The runs of all tenants, in all the lists that something is looked for in: a row is in or out of each, and no trace is left. */
export interface RunIndexes {
  readonly byTenant: ReadonlyMap<string, TenantIndexes>
  /** The clock has never gone back: lists are in the order of `createdAt`, too. */
  readonly isInOrder: boolean
  /** The rows of all tenants, by place. */
  readonly all: SortedList<RunRow>
  /** Those of runs that have not ended. */
  readonly open: SortedList<RunRow>
  /** Those of runs whose account has something untold. */
  readonly pending: SortedList<RunRow>
  openIndexes(tenant: string): TenantIndexes
  openRoom(tenantIndexes: TenantIndexes, tenant: string, sessionId: string, now: number): SessionEntry
  add(tenantIndexes: TenantIndexes, room: SessionEntry, run: StoredRun): void
  replace(tenantIndexes: TenantIndexes, row: RunRow, run: StoredRun): void
  remove(tenantIndexes: TenantIndexes, row: RunRow): void
  removeAll(tenantIndexes: TenantIndexes, rows: readonly RunRow[]): void
}

/** From so many rows on, they are taken out of every list at once. */
const MANY = 256

export function runIndexes(): RunIndexes {
  const byTenant = new Map<string, TenantIndexes>()
  const all = new SortedList(isListedBelow)
  const open = new SortedList(isListedBelow)
  const pending = new SortedList(isListedBelow)
  let places = 0
  let latest = 0
  let isInOrder = true

  function remove(tenantIndexes: TenantIndexes, row: RunRow): void {
    const status = statusOf(row.run.state)
    takeOut(tenantIndexes, row, row.run.state)
    tenantIndexes.byId.delete(row.run.state.runId)
    all.delete(row)
    tenantIndexes.rows.delete(row)
    row.room.rows.delete(row)
    tenantIndexes.byAge.get(status)?.delete(row)
    if (isOpenRun(status)) open.delete(row)
    if (isPending(row.run)) pending.delete(row)
  }

  return {
    get isInOrder() {
      return isInOrder
    },
    byTenant,
    all,
    open,
    pending,

    openIndexes: (tenant) => entry(byTenant, tenant, newIndexes),

    openRoom: (tenantIndexes, tenant, sessionId, now) =>
      entry(tenantIndexes.rooms, sessionId, () => newRoom(tenant, sessionId, now)),

    add(tenantIndexes, room, run) {
      if (run.createdAt < latest) isInOrder = false
      latest = Math.max(latest, run.createdAt)
      const row: RunRow = { run, place: ++places, at: latest, room }
      putIn(tenantIndexes, row, run.state)
      const status = statusOf(run.state)
      tenantIndexes.byId.set(run.state.runId, row)
      all.add(row)
      tenantIndexes.rows.add(row)
      room.rows.add(row)
      entry(tenantIndexes.byAge, status, newAges).add(row)
      if (isOpenRun(status)) open.add(row)
      if (isPending(run)) pending.add(row)
    },

    replace(tenantIndexes, row, run) {
      const old = row.run
      const was = statusOf(old.state)
      const is = statusOf(run.state)
      const ages = was !== is || old.updatedAt !== run.updatedAt
      if (ages) tenantIndexes.byAge.get(was)?.delete(row)
      row.run = run
      if (ages) entry(tenantIndexes.byAge, is, newAges).add(row)
      if (isOpenRun(was) !== isOpenRun(is)) keep(open, row, isOpenRun(is))
      if (isPending(old) !== isPending(run)) keep(pending, row, isPending(run))
      if (hasSameFacets(old.state, run.state)) return
      takeOut(tenantIndexes, row, old.state, run.state)
      putIn(tenantIndexes, row, run.state, old.state)
    },

    remove,

    removeAll(tenantIndexes, rows) {
      if (rows.length < MANY) {
        for (const row of rows) remove(tenantIndexes, row)
        return
      }
      const gone = new Set(rows)
      for (const row of gone) tenantIndexes.byId.delete(row.run.state.runId)
      const rooms = new Set(rows.map(({ room }) => room))
      const lists = [
        all,
        open,
        pending,
        tenantIndexes.rows,
        ...tenantIndexes.byAge.values(),
        ...[...rooms].map((room) => room.rows),
      ]
      for (const list of lists) list.deleteAll(gone)
      for (const row of gone) takeOut(tenantIndexes, row, row.run.state)
    },
  }
}

/** What a map has, or from now on has, for a key. */
export function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function newIndexes(): TenantIndexes {
  return {
    byId: new Map(),
    rows: new SortedList(isListedBelow),
    byAge: new Map(),
    byFacet: new Map(),
    rooms: new Map(),
    spend: new Map(),
  }
}

function newRoom(tenant: string, sessionId: string, now: number): SessionEntry {
  return {
    session: { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] },
    rows: new SortedList(isListedBelow),
    descendants: new Map(),
  }
}

function newAges(): SortedList<RunRow> {
  return new SortedList(isOlder)
}

function newPlaces(): SortedList<RunRow> {
  return new SortedList(isListedBelow)
}

function isListedBelow(one: RunRow, other: RunRow): boolean {
  return one.place < other.place
}

/** Runs by the values of a facet. The index is built when it is first asked for, so that a host that never filters pays nothing. */
export function runsBy({ byFacet, rows }: TenantIndexes, name: FacetName): ReadonlyMap<string, SortedList<RunRow>> {
  return entry(byFacet, name, () => {
    const lists = new Map<string, SortedList<RunRow>>()
    for (const row of rows.up())
      for (const value of valuesOf(row.run.state, name)) entry(lists, value, newPlaces).add(row)
    return lists
  })
}

/** Adds a row to the indexes, for the values of a state that another state lacks. */
function putIn({ byFacet }: TenantIndexes, row: RunRow, state: RunState, other?: RunState): void {
  for (const [name, lists] of byFacet)
    for (const value of valuesOf(state, name))
      if (!other || !valuesOf(other, name).includes(value)) entry(lists, value, newPlaces).add(row)
}

/** Removes a row from the indexes, for the values of a state that another state lacks. */
function takeOut({ byFacet }: TenantIndexes, row: RunRow, state: RunState, other?: RunState): void {
  for (const [name, lists] of byFacet)
    for (const value of valuesOf(state, name))
      if (!other || !valuesOf(other, name).includes(value)) removeFrom(lists, value, row)
}

function valuesOf(state: RunState, name: FacetName): readonly string[] {
  if (name === 'tag') return state.tags
  const value = name === 'status' ? statusOf(state) : state.latest[name]
  return typeof value === 'string' ? [value] : []
}

/** Nothing that it is listed by has changed: this is for every post. */
function hasSameFacets(one: RunState, other: RunState): boolean {
  return (
    one.status === other.status &&
    one.tags === other.tags &&
    one.latest.provider === other.latest.provider &&
    one.latest.model === other.latest.model &&
    one.latest.userId === other.latest.userId
  )
}

function removeFrom(lists: Map<string, SortedList<RunRow>>, value: string, row: RunRow): void {
  const list = lists.get(value)
  list?.delete(row)
  if (list?.first === undefined) lists.delete(value)
}

function isOlder(one: RunRow, other: RunRow): boolean {
  const age = one.run.updatedAt - other.run.updatedAt
  return age < 0 || (age === 0 && one.place < other.place)
}

/** As `facetsOf` has it, and nothing else of it: this is for every post. */
function statusOf({ status }: RunState): RunStatus {
  return status ?? 'running'
}

function isPending({ derived }: StoredRun): boolean {
  return derived.pending.length > 0
}

function keep(list: SortedList<RunRow>, row: RunRow, belongs: boolean): void {
  if (belongs) list.add(row)
  else list.delete(row)
}
