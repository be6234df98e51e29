import type { Clock } from '../../ports/clock.ts'
import { KIND_NAMES, type Kind, type RecordOf } from '../engine/kinds.ts'
import type { Change, Filter, Follow, Found, Prefix, Records, Scan, Scanned, Value, Wanted } from '../engine/records.ts'
import { type IndexEntry, MemoryTable, type Row, type Step } from './memory-table.ts'
import { comparePlaces, type SortedList } from './sorted-list.ts'

type Tables = Readonly<Record<Kind, MemoryTable>>

/** Records in this process's memory. Each call reads or changes them at once: calls never interleave. */
export function memoryRecords(clock: Pick<Clock, 'now'>): Records {
  const tables = Object.fromEntries(KIND_NAMES.map((kind) => [kind, new MemoryTable(kind)])) as Tables
  let reads = 0
  return {
    now() {
      const at = Math.floor(clock.now())
      return { earliest: at, latest: at }
    },
    read: async (wanted) => readTables(tables, wanted, ++reads),
    scan: async (scan) => scanTable(tables, scan),
    commit: async (changes) => commitTo(tables, changes),
    sharesValues: true,
  }
}

/** Comparisons come before changes, and removals before insertions. */
const PHASES = ['compare', 'update', 'remove', 'insert'] as const

function commitTo(tables: Tables, changes: readonly Change[]): boolean {
  const steps: Step[] = []
  for (const phase of PHASES)
    for (const { do: what, kind, records } of changes)
      if (what === phase && !take(steps, tables[kind], what, records)) {
        for (const step of steps.reverse()) step.table.undo(step)
        return false
      }
  for (const step of steps) step.table.finish(step)
  return true
}

/** Adds the steps of a change; `false` if a record is not as the change says. */
function take(steps: Step[], table: MemoryTable, what: Change['do'], records: readonly Row[]): boolean {
  for (const record of records) {
    if (what === 'compare') {
      if (!table.has(record)) return false
      continue
    }
    const step = table[what](record)
    if (!step) return false
    steps.push(step)
  }
  return true
}

/** Rows by kind. */
type Rows = { [Name in Kind]?: Row[] }

/** @param read Number of the read. */
function readTables(tables: Tables, wanted: readonly Wanted[], read: number): Found {
  const found: Rows = {}
  function take({ kind, index, with: prefixes, follow }: Wanted): void {
    const rows = rowsOf(found, kind)
    const first = rows.length
    for (const prefix of prefixes) tables[kind].collect(rows, index, prefix, read)
    if (follow) followRows(tables, kind, follow, rows.slice(first), found, read)
  }
  // A row that was found before is not followed.
  for (const one of wanted) if (one.follow) take(one)
  for (const one of wanted) if (!one.follow) take(one)
  return found as Readonly<Record<string, readonly unknown[]>> as Found
}

function rowsOf(found: Rows, kind: Kind): Row[] {
  const rows = found[kind] ?? []
  found[kind] = rows
  return rows
}

/** Adds the rows that follow from some rows. */
function followRows(
  tables: Tables,
  kind: Kind,
  { column, unless, depth, also }: Follow,
  from: readonly Row[],
  found: Rows,
  read: number,
): void {
  const { key } = tables[kind]
  const rows = rowsOf(found, kind)
  let level = from
  for (let steps = 0; steps < depth && level.length > 0; steps++) {
    const first = rows.length
    for (const row of level) {
      if (row[unless] === 1 || typeof row[column] !== 'string') continue
      const named: Row = { ...row, [key[0] as string]: row[column] }
      for (const other of also) {
        const { key: columns } = tables[other]
        tables[other].collect(rowsOf(found, other), undefined, valuesOf(named, columns), read)
      }
      tables[kind].collect(rows, undefined, valuesOf(named, key), read)
    }
    level = rows.slice(first)
  }
}

function scanTable<Name extends Kind>(tables: Tables, scan: Scan<Name>): Scanned<Name> {
  const { kind, by = kind, where = [], limit, most = Number.POSITIVE_INFINITY } = scan
  const entries = tables[by].index(scan.index)
  const length = scan.with[0]?.length ?? 0
  const found: Scanned<Name>['found'][number][] = []
  let last: IndexEntry | undefined
  let seen = 0
  const ranges = scan.with.map((prefix) => rangeOf(entries, prefix, scan))
  const [range] = ranges
  const merged = range && ranges.length === 1 ? range : mergeRanges(ranges, length, scan.isReverse === true)
  for (const one of merged) {
    if (one === last) continue
    if (last && (found.length >= limit || seen >= most)) return { found, last: last.place.slice(length) }
    last = one
    seen++
    const row = by === kind ? one.entry.row : otherRow(tables[kind], one.entry.row)
    if (row && where.every((filter) => passes(tables, row, filter)))
      found.push({ record: row as RecordOf<Name>, at: one.place.slice(length) })
  }
  return { found }
}

type Entries = Generator<IndexEntry, void, undefined>

/** The entries of all prefixes of a scan, in its order. @param length Length of the prefixes. */
function* mergeRanges(ranges: readonly Entries[], length: number, isReverse: boolean): Entries {
  const heads = ranges.map(nextOf)
  for (;;) {
    const first = firstOf(heads, length, isReverse)
    const head = heads[first]
    if (!head) return
    yield head
    heads[first] = nextOf(ranges[first] as Entries)
  }
}

function nextOf(entries: Entries): IndexEntry | undefined {
  return entries.next().value ?? undefined
}

/** Position of the head that comes first; -1: there is none. */
function firstOf(heads: readonly (IndexEntry | undefined)[], length: number, isReverse: boolean): number {
  const sign = isReverse ? -1 : 1
  let first = -1
  for (const [at, head] of heads.entries()) {
    const best = heads[first]
    if (head && (!best || sign * comparePlaces(head.place, best.place, length) < 0)) first = at
  }
  return first
}

/** The entries of one prefix of a scan, in its order. */
function rangeOf(
  entries: SortedList<IndexEntry>,
  prefix: Prefix,
  { from = [], until, after, isReverse }: Scan,
): Entries {
  const start = [...prefix, ...from]
  const end = until && [...prefix, ...until]
  const passed = after && [...prefix, ...after]
  const isBeforeEnd = ({ place }: IndexEntry): boolean =>
    comparePlaces(place, prefix) <= 0 && (!end || comparePlaces(place, end) < 0)
  if (isReverse) {
    const isLeft = ({ place }: IndexEntry): boolean => !passed || comparePlaces(place, passed) < 0
    const isStarted = ({ place }: IndexEntry): boolean => comparePlaces(place, start) >= 0
    return takeWhile(
      entries.down((one) => isBeforeEnd(one) && isLeft(one)),
      isStarted,
    )
  }
  const isPassed = ({ place }: IndexEntry): boolean => passed !== undefined && comparePlaces(place, passed) <= 0
  return takeWhile(
    entries.up((one) => comparePlaces(one.place, start) < 0 || isPassed(one)),
    isBeforeEnd,
  )
}

function* takeWhile(entries: Entries, isIn: (entry: IndexEntry) => boolean): Entries {
  for (const entry of entries) {
    if (!isIn(entry)) return
    yield entry
  }
}

function passes(tables: Tables, scanned: Row, filter: Filter): boolean {
  const row = filter.of === undefined ? scanned : otherRow(tables[filter.of], scanned, filter.key)
  if (!row) return false
  if (filter.column === undefined) return true
  const value = row[filter.column]
  if (value === null || value === undefined) return false
  if ('in' in filter) return filter.in.includes(value as Value)
  if ('below' in filter) return (value as number) < filter.below
  if ('contains' in filter) return (value as string).includes(filter.contains)
  return !(value as string).includes(filter.lacks)
}

/** The row whose key has the given values, and those of the columns of the same names. */
function otherRow(table: MemoryTable, scanned: Row, given?: Filter['key']): Row | undefined {
  const values = valuesOf({ ...scanned, ...given }, table.key)
  return values.includes(null as never) || values.includes(undefined as never) ? undefined : table.get(values)
}

function valuesOf(row: Row, columns: readonly string[]): Prefix {
  return columns.map((column) => row[column] as Value)
}
