import type { RunState, RunStatus } from '../../model/run.ts'
import { statusOfRun } from '../../model/run-status.ts'
import { shownReport } from '../../model/shown-run.ts'
import { noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { StoredRun, StoredSession } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { isListedBelow, type ListPosition } from './list-range.ts'
import { SortedList } from './sorted-list.ts'

/** Entry of a run in lists. A merge replaces `run`. `at` is `createdAt`, or the latest earlier value if the clock went back. */
export interface RunRow extends ListPosition {
  run: StoredRun
  readonly entry: SessionEntry
}

export interface SessionEntry extends ListPosition {
  readonly session: { -readonly [Name in keyof StoredSession]: StoredSession[Name] }
  readonly byId: Map<string, RunRow>
  readonly rows: SortedList<RunRow>
  /** Totals of descendants, by run id. */
  readonly descendants: Map<string, Totals>
}

export type FacetName = 'status' | 'provider' | 'model' | 'userId' | 'tag'

export interface TenantIndexes {
  readonly rows: SortedList<RunRow>
  /** By status, then by last change: removals read only old runs. */
  readonly byAge: Map<RunStatus, SortedList<RunRow>>
  /** Indexes built so far. Empty lists are removed. */
  readonly byFacet: Map<FacetName, Map<string, SortedList<RunRow>>>
  readonly sessions: Map<string, SessionEntry>
  readonly sessionList: SortedList<SessionEntry>
  readonly spend: Map<string, Map<number, Spend>>
}

/** Indexes of the runs of all tenants, in the order of {@link ListPosition}, except `byAge`. */
export interface RunIndexes {
  readonly byTenant: ReadonlyMap<string, TenantIndexes>
  /** Whether lists are also in the order of `createdAt`: the clock never went back. */
  readonly isInOrder: boolean
  readonly all: SortedList<RunRow>
  readonly open: SortedList<RunRow>
  readonly pending: SortedList<RunRow>
  openTenant(tenant: string): TenantIndexes
  openSession(indexes: TenantIndexes, tenant: string, sessionId: string, now: number): SessionEntry
  removeSession(indexes: TenantIndexes, entry: SessionEntry): void
  add(indexes: TenantIndexes, entry: SessionEntry, run: StoredRun): void
  replace(indexes: TenantIndexes, row: RunRow, run: StoredRun): void
  remove(indexes: TenantIndexes, row: RunRow): void
}

export function runIndexes(): RunIndexes {
  const byTenant = new Map<string, TenantIndexes>()
  const [all, open, pending] = [newList(), newList(), newList()]
  let added = 0
  let opened = 0
  let latest = 0
  let isInOrder = true

  return {
    get isInOrder() {
      return isInOrder
    },
    byTenant,
    all,
    open,
    pending,

    openTenant: (tenant) =>
      mapEntry(byTenant, tenant, () => ({
        rows: newList(),
        byAge: new Map(),
        byFacet: new Map(),
        sessions: new Map(),
        sessionList: new SortedList<SessionEntry>(isListedBelow),
        spend: new Map(),
      })),

    openSession: (indexes, tenant, sessionId, now) =>
      mapEntry(indexes.sessions, sessionId, () => {
        const entry: SessionEntry = {
          session: { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] },
          byId: new Map(),
          rows: newList(),
          descendants: new Map(),
          at: now,
          sequence: ++opened,
        }
        indexes.sessionList.add(entry)
        return entry
      }),

    removeSession(indexes, entry) {
      indexes.sessions.delete(entry.session.sessionId)
      indexes.sessionList.delete(entry)
    },

    add(indexes, entry, run) {
      if (run.createdAt < latest) isInOrder = false
      latest = Math.max(latest, run.createdAt)
      const row: RunRow = { run, sequence: ++added, at: latest, entry }
      addToFacets(indexes, row, run.state)
      entry.byId.set(run.state.runId, row)
      all.add(row)
      indexes.rows.add(row)
      entry.rows.add(row)
      const status = statusOfRun(run.state)
      mapEntry(indexes.byAge, status, newAgeList).add(row)
      if (isOpenRun(status)) open.add(row)
      if (isPending(run)) pending.add(row)
    },

    replace(indexes, row, run) {
      const old = row.run
      const [before, after] = [statusOfRun(old.state), statusOfRun(run.state)]
      const hasMoved = before !== after || old.updatedAt !== run.updatedAt
      if (hasMoved) indexes.byAge.get(before)?.delete(row)
      row.run = run
      if (hasMoved) mapEntry(indexes.byAge, after, newAgeList).add(row)
      if (isOpenRun(before) !== isOpenRun(after)) setListed(open, row, isOpenRun(after))
      if (isPending(old) !== isPending(run)) setListed(pending, row, isPending(run))
      if (hasSameFacets(old.state, run.state)) return
      removeFromFacets(indexes, row, old.state, run.state)
      addToFacets(indexes, row, run.state, old.state)
    },

    remove(indexes, row) {
      const { run, entry } = row
      removeFromFacets(indexes, row, run.state)
      entry.byId.delete(run.state.runId)
      all.delete(row)
      indexes.rows.delete(row)
      entry.rows.delete(row)
      indexes.byAge.get(statusOfRun(run.state))?.delete(row)
      if (isOpenRun(statusOfRun(run.state))) open.delete(row)
      if (isPending(run)) pending.delete(row)
    },
  }
}

export function mapEntry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function newList(): SortedList<RunRow> {
  return new SortedList<RunRow>(isListedBelow)
}

function newAgeList(): SortedList<RunRow> {
  return new SortedList<RunRow>(isOlder)
}

function isOlder(one: RunRow, other: RunRow): boolean {
  const age = one.run.updatedAt - other.run.updatedAt
  return age < 0 || (age === 0 && one.sequence < other.sequence)
}

/** Runs by the values of a facet. The index is built on first use. */
export function runsBy({ byFacet, rows }: TenantIndexes, name: FacetName): ReadonlyMap<string, SortedList<RunRow>> {
  return mapEntry(byFacet, name, () => {
    const lists = new Map<string, SortedList<RunRow>>()
    for (const row of rows.up())
      for (const value of valuesOf(row.run.state, name)) mapEntry(lists, value, newList).add(row)
    return lists
  })
}

/** Adds a row under the values of `state` that `other` lacks. */
function addToFacets({ byFacet }: TenantIndexes, row: RunRow, state: RunState, other?: RunState): void {
  for (const [name, lists] of byFacet)
    for (const value of valuesOf(state, name))
      if (!other || !valuesOf(other, name).includes(value)) mapEntry(lists, value, newList).add(row)
}

/** Removes a row from the values of `state` that `other` lacks. */
function removeFromFacets({ byFacet }: TenantIndexes, row: RunRow, state: RunState, other?: RunState): void {
  for (const [name, lists] of byFacet)
    for (const value of valuesOf(state, name)) {
      if (other && valuesOf(other, name).includes(value)) continue
      const list = lists.get(value)
      list?.delete(row)
      if (list?.first === undefined) lists.delete(value)
    }
}

function valuesOf(state: RunState, name: FacetName): readonly string[] {
  const report = shownReport(state)
  if (name === 'tag') return report.tags
  const value = name === 'status' ? statusOfRun(state) : report.latest[name]
  return typeof value === 'string' ? [value] : []
}

/** Fast path: most merges change no facet. */
function hasSameFacets(first: RunState, second: RunState): boolean {
  const one = shownReport(first)
  const other = shownReport(second)
  return (
    one.status === other.status &&
    one.tags === other.tags &&
    one.latest.provider === other.latest.provider &&
    one.latest.model === other.latest.model &&
    one.latest.userId === other.latest.userId
  )
}

function isPending({ derived }: StoredRun): boolean {
  return derived.pending.length > 0
}

function setListed(list: SortedList<RunRow>, row: RunRow, isListed: boolean): void {
  if (isListed) list.add(row)
  else list.delete(row)
}
