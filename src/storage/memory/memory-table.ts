import { columnOf } from '../engine/columns.ts'
import { declarationOf, type Kind } from '../engine/kinds.ts'
import type { Prefix, Value } from '../engine/records.ts'
import { comparePlaces, type Place, SortedList } from './sorted-list.ts'

/** A record, by its columns. It never changes: an update replaces it. */
export type Row = Readonly<Record<string, unknown>>

/** The present row of a record. Indexes hold entries, so that an update without a change of indexed columns leaves them as they are. */
export interface Entry {
  row: Row
  /** Order of insertion, which decides between records of equal indexed columns. */
  readonly sequence: number
  /** Number of the last read that found it. */
  lastRead: number
}

/** An entry of an index. */
export interface IndexEntry {
  readonly place: Place
  readonly entry: Entry
}

/** A change of a record that a commit has checked. Without `before` it is inserted, without `after` removed. */
export interface Step {
  readonly table: MemoryTable
  readonly text: string
  readonly entry: Entry
  readonly before: Row | undefined
  readonly after: Row | undefined
}

interface Index {
  readonly columns: readonly string[]
  readonly entries: SortedList<IndexEntry>
}

/** Records of one kind. Indexes are built when they are first read. */
export class MemoryTable {
  readonly key: readonly string[]
  readonly #indexes: Readonly<Record<string, readonly string[]>>
  /** Columns that an update keeps, */
  readonly #fixed: readonly string[]
  /** and those that it keeps if it gives none. */
  readonly #kept: readonly string[]
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Map<string | undefined, Index>()
  readonly #built: Index[] = []
  #inserted = 0

  constructor(kind: Kind) {
    const { key, columns, indexes = {} } = declarationOf(kind)
    const all = Object.entries(columns).map(([name, words]) => ({ name, ...columnOf(words) }))
    const names = (is: (column: (typeof all)[number]) => boolean): readonly string[] =>
      all.filter((column) => is(column) && !key.includes(column.name)).map(({ name }) => name)
    this.key = key
    this.#indexes = indexes
    this.#fixed = names(({ fixed }) => fixed)
    this.#kept = names(({ kept }) => kept)
  }

  /** The record of a whole key. */
  get(key: Prefix): Row | undefined {
    return this.#entries.get(joined(key))?.row
  }

  /**
   * Adds the rows that begin with the values to a list, each of them once in one read.
   * @param name Default: the key.
   * @param read Number of the read.
   */
  collect(rows: Row[], name: string | undefined, prefix: Prefix, read: number): void {
    if (name === undefined && prefix.length === this.key.length) {
      const entry = this.#entries.get(joined(prefix))
      if (entry) collectOnce(rows, entry, read)
      return
    }
    for (const { place, entry } of this.index(name).up((one) => comparePlaces(one.place, prefix) < 0)) {
      if (comparePlaces(place, prefix) !== 0) return
      collectOnce(rows, entry, read)
    }
  }

  /** Records by their places. @param name Default: the key. */
  index(name: string | undefined): SortedList<IndexEntry> {
    return (this.#byName.get(name) ?? this.#build(name)).entries
  }

  /** Whether the record has this version. */
  has(row: Row): boolean {
    return this.#find(this.#textOf(row), row) !== undefined
  }

  /** The step of an update. `undefined`: the record has another version. */
  update(row: Row): Step | undefined {
    const text = this.#textOf(row)
    const entry = this.#find(text, row)
    return entry && { table: this, text, entry, before: entry.row, after: this.#replace(entry.row, row) }
  }

  /** Removes a record; indexes have it until {@link finish}. `undefined`: it has another version. */
  remove(row: Row): Step | undefined {
    const text = this.#textOf(row)
    const entry = this.#find(text, row)
    if (!entry) return undefined
    this.#entries.delete(text)
    return { table: this, text, entry, before: entry.row, after: undefined }
  }

  /** Inserts a record; indexes lack it until {@link finish}. `undefined`: it exists. */
  insert(row: Row): Step | undefined {
    const text = this.#textOf(row)
    if (this.#entries.has(text)) return undefined
    const entry = { row, sequence: ++this.#inserted, lastRead: 0 }
    this.#entries.set(text, entry)
    return { table: this, text, entry, before: undefined, after: row }
  }

  /** Undoes a step that is not finished. Later steps must have been undone before. */
  undo({ text, entry, before, after }: Step): void {
    if (!before) this.#entries.delete(text)
    else if (!after) this.#entries.set(text, entry)
  }

  /** Ends a step: indexes then have its row. */
  finish({ entry, before, after }: Step): void {
    if (after) entry.row = after
    for (const { columns, entries } of this.#built) {
      if (before && after && !differ(before, after, columns)) continue
      const old = before && placeOf(before, columns, entry.sequence)
      if (old) entries.delete(old)
      const place = after && placeOf(after, columns, entry.sequence)
      if (place) entries.add({ place, entry })
    }
  }

  /** The record, if it has the version of the row. */
  #find(text: string, { version }: Row): Entry | undefined {
    const entry = this.#entries.get(text)
    return entry?.row.version === version ? entry : undefined
  }

  #build(name: string | undefined): Index {
    const columns = name === undefined ? this.key : this.#indexes[name]
    if (!columns) throw new Error(`the records have no index ${name}`)
    const index: Index = { columns, entries: new SortedList() }
    const found: IndexEntry[] = []
    for (const entry of this.#entries.values()) {
      const place = placeOf(entry.row, columns, entry.sequence)
      if (place) found.push({ place, entry })
    }
    for (const one of found.sort((one, other) => comparePlaces(one.place, other.place))) index.entries.add(one)
    this.#byName.set(name, index)
    this.#built.push(index)
    return index
  }

  #replace(old: Row, given: Row): Row {
    const row: Record<string, unknown> = { ...given }
    for (const column of this.#fixed) row[column] = old[column]
    for (const column of this.#kept) row[column] ??= old[column]
    row.version = (old.version as number) + 1
    return row
  }

  #textOf(row: Row): string {
    const { key } = this
    if (key.length === 1) return `${row[key[0] as string]}`
    let text = ''
    for (const column of key) text += keyPart(row[column])
    return text
  }
}

function collectOnce(rows: Row[], entry: Entry, read: number): void {
  if (entry.lastRead === read) return
  entry.lastRead = read
  rows.push(entry.row)
}

/** Place of a record in an index. `undefined`: a column is absent, and the record not in the index. */
function placeOf(row: Row, columns: readonly string[], sequence: number): Place | undefined {
  // An array that grows takes three times the memory.
  const place = new Array<Value>(columns.length + 1)
  for (let at = 0; at < columns.length; at++) {
    const value = row[columns[at] as string]
    if (value === null || value === undefined) return undefined
    place[at] = value as Value
  }
  place[columns.length] = sequence
  return place
}

function differ(one: Row, other: Row, columns: readonly string[]): boolean {
  for (const column of columns) if (one[column] !== other[column]) return true
  return false
}

/** Joins the values of a key. Different keys of one kind give different texts. */
function joined(values: readonly unknown[]): string {
  if (values.length === 1) return `${values[0]}`
  let text = ''
  for (const value of values) text += keyPart(value)
  return text
}

function keyPart(value: unknown): string {
  return typeof value === 'string' ? `${value.length}:${value}` : `${value}:`
}
