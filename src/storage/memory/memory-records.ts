import type { Clock } from '../../ports/clock.ts'
import { KIND_NAMES, type Kind, type RecordOf } from '../engine/kinds.ts'
import type { Change, Filter, Follow, Found, Prefix, Records, Scan, Scanned, Value, Wanted } from '../engine/records.ts'
import {
  compareEntries,
  compareTo,
  type Entry,
  MemoryTable,
  type Row,
  type SortedIndex,
  type Step,
} from './memory-table.ts'

type Tables = Readonly<Record<Kind, MemoryTable>>

/** Records in this process's memory. Each call reads or changes them at once: calls never interleave. */
export function memoryRecords(clock: Pick<Clock, 'now'>): Records {
  const tables = Object.fromEntries(KIND_NAMES.map((kind) => [kind, new MemoryTable(kind)])) as Tables
  return {
    now() {
      const at = Math.floor(clock.now())
      return { earliest: at, latest: at }
    },
    read: async (wanted) => readTables(tables, wanted),
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

/** Rows by kind. A set has each row once. */
type Rows = Map<Kind, Set<Row>>

function readTables(tables: Tables, wanted: readonly Wanted[]): Found {
  const found: Rows = new Map()
  for (const { kind, index, with: prefixes, follow } of wanted) {
    const rows = follow ? new Set<Row>() : rowsOf(found, kind)
    for (const prefix of prefixes) tables[kind].collect(rows, index, prefix)
    if (follow) followRows(tables, kind, follow, rows, found)
  }
  const lists: Partial<Record<Kind, readonly Row[]>> = {}
  for (const [kind, rows] of found) lists[kind] = [...rows]
  return lists as Found
}

function rowsOf(found: Rows, kind: Kind): Set<Row> {
  const rows = found.get(kind) ?? new Set()
  found.set(kind, rows)
  return rows
}

/** Adds rows, and those that follow from them. */
function followRows(tables: Tables, kind: Kind, follow: Follow, rows: ReadonlySet<Row>, found: Rows): void {
  const { column, unless, depth, also } = follow
  const { key } = tables[kind]
  const seen = new Set(rows)
  let level: readonly Row[] = [...rows]
  for (let steps = 0; steps < depth && level.length > 0; steps++) {
    const next: Row[] = []
    for (const row of level) {
      if (row[unless] === 1 || typeof row[column] !== 'string') continue
      const named: Row = { ...row, [key[0] as string]: row[column] }
      for (const other of also) {
        const { key: columns } = tables[other]
        tables[other].collect(rowsOf(found, other), undefined, valuesOf(named, columns))
      }
      const followed = tables[kind].get(valuesOf(named, key))
      if (!followed || seen.has(followed)) continue
      seen.add(followed)
      next.push(followed)
    }
    level = next
  }
  for (const row of seen) rowsOf(found, kind).add(row)
}

function scanTable<Name extends Kind>(tables: Tables, scan: Scan<Name>): Scanned<Name> {
  const { where = [], limit, most = Number.POSITIVE_INFINITY } = scan
  const index = tables[scan.kind].index(scan.index)
  const columns = index.columnsAfter(scan.with[0]?.length ?? 0)
  const found: Scanned<Name>['found'][number][] = []
  let last: Entry | undefined
  let seen = 0
  const ranges = scan.with.map((prefix) => rangeOf(index, columns, prefix, scan))
  const [range] = ranges
  const merged = range && ranges.length === 1 ? range : mergeRanges(ranges, columns, scan.isReverse === true)
  for (const entry of merged) {
    if (entry === last) continue
    if (last && (found.length >= limit || seen >= most)) return { found, last: placeOf(last, columns) }
    last = entry
    seen++
    const { row } = entry
    if (where.every((filter) => passes(tables, row, filter)))
      found.push({ record: row as RecordOf<Name>, at: placeOf(entry, columns) })
  }
  return { found }
}

/** Position of an entry: the columns and its insertion. */
function placeOf({ row, sequence }: Entry, columns: readonly string[]): Prefix {
  const place = columns.map((column) => row[column] as Value)
  place.push(sequence)
  return place
}

type Entries = Generator<Entry, void, undefined>

/** The entries of all prefixes of a scan, in its order. */
function* mergeRanges(ranges: readonly Entries[], columns: readonly string[], isReverse: boolean): Entries {
  const heads = ranges.map(nextOf)
  for (;;) {
    const first = firstOf(heads, columns, isReverse)
    const head = heads[first]
    if (!head) return
    yield head
    heads[first] = nextOf(ranges[first] as Entries)
  }
}

function nextOf(entries: Entries): Entry | undefined {
  return entries.next().value ?? undefined
}

/** Position of the head that comes first; -1: there is none. */
function firstOf(heads: readonly (Entry | undefined)[], columns: readonly string[], isReverse: boolean): number {
  const sign = isReverse ? -1 : 1
  let first = -1
  for (const [at, head] of heads.entries()) {
    const best = heads[first]
    if (head && (!best || sign * compareEntries(head, best, columns) < 0)) first = at
  }
  return first
}

/** The entries of one prefix of a scan, in its order. */
function rangeOf(
  { columns: leading, entries }: SortedIndex,
  columns: readonly string[],
  prefix: Prefix,
  scan: Scan,
): Entries {
  const { from = [], until, after, isReverse } = scan
  const isFrom = (entry: Entry): boolean => compareTo(entry, columns, from) >= 0
  const isUntil = (entry: Entry): boolean => until === undefined || compareTo(entry, columns, until) < 0
  /** Whether the entry is below what the test says, and below the prefix or in it. */
  const below =
    (isBelow: (entry: Entry) => boolean) =>
    (entry: Entry): boolean => {
      const order = compareTo(entry, leading, prefix)
      return order < 0 || (order === 0 && isBelow(entry))
    }
  if (isReverse) {
    const isLeft = (entry: Entry): boolean => after === undefined || compareTo(entry, columns, after) < 0
    return takeWhile(
      entries.down(below((entry) => isUntil(entry) && isLeft(entry))),
      (entry) => compareTo(entry, leading, prefix) === 0 && isFrom(entry),
    )
  }
  const isPassed = (entry: Entry): boolean => after !== undefined && compareTo(entry, columns, after) <= 0
  return takeWhile(
    entries.up(below((entry) => !isFrom(entry) || isPassed(entry))),
    (entry) => compareTo(entry, leading, prefix) === 0 && isUntil(entry),
  )
}

function* takeWhile(entries: Entries, isIn: (entry: Entry) => boolean): Entries {
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
function otherRow(table: MemoryTable, scanned: Row, given: Filter['key']): Row | undefined {
  const values = valuesOf({ ...scanned, ...given }, table.key)
  return values.includes(null as never) || values.includes(undefined as never) ? undefined : table.get(values)
}

function valuesOf(row: Row, columns: readonly string[]): Prefix {
  return columns.map((column) => row[column] as Value)
}
