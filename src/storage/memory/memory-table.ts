import { columnOf } from '../engine/columns.ts'
import { declarationOf, type Kind } from '../engine/kinds.ts'
import type { Prefix, Value } from '../engine/records.ts'
import { SortedList } from './sorted-list.ts'

/** A record, by its columns. It never changes: an update replaces it. */
export type Row = Readonly<Record<string, unknown>>

/** The present row of a record. Indexes hold entries, so that an update without a change of indexed columns leaves them as they are. */
export interface Entry {
  row: Row
  /** Order of insertion, which decides between records of equal indexed columns. */
  readonly sequence: number
}

/** A change of a record that a commit has checked. Without `before` it is inserted, without `after` removed. */
export interface Step {
  readonly table: MemoryTable
  readonly text: string
  readonly entry: Entry
  readonly before: Row | undefined
  readonly after: Row | undefined
}

/** Entries in the order of the columns of an index, and then of their insertion. */
export interface SortedIndex {
  readonly columns: readonly string[]
  /** Those that may be absent. */
  readonly optional: readonly string[]
  readonly entries: SortedList<Entry>
  /** Columns after a prefix of this length. */
  columnsAfter(length: number): readonly string[]
}

/** Records of one kind. Indexes are built when they are first read. */
export class MemoryTable {
  readonly key: readonly string[]
  readonly #indexes: Readonly<Record<string, readonly string[]>>
  readonly #optional: ReadonlySet<string>
  /** Columns that an update keeps, */
  readonly #fixed: readonly string[]
  /** and those that it keeps if it gives none. */
  readonly #kept: readonly string[]
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Map<string | undefined, SortedIndex>()
  readonly #built: SortedIndex[] = []
  #inserted = 0

  constructor(kind: Kind) {
    const { key, columns, indexes = {} } = declarationOf(kind)
    const all = Object.entries(columns).map(([name, words]) => ({ name, ...columnOf(words) }))
    this.key = key
    this.#indexes = indexes
    this.#optional = new Set(all.filter(({ optional }) => optional).map(({ name }) => name))
    const names = (is: (column: (typeof all)[number]) => boolean): readonly string[] =>
      all.filter((column) => is(column) && !key.includes(column.name)).map(({ name }) => name)
    this.#fixed = names(({ fixed }) => fixed)
    this.#kept = names(({ kept }) => kept)
  }

  /** The record of a whole key. */
  get(key: Prefix): Row | undefined {
    return this.#entries.get(key.length === 1 ? `${key[0]}` : joined(key))?.row
  }

  /** Adds the rows that begin with the values to a set. @param name Default: the key. */
  collect(rows: Set<Row>, name: string | undefined, prefix: Prefix): void {
    if (name === undefined && prefix.length === this.key.length) {
      const row = this.get(prefix)
      if (row) rows.add(row)
      return
    }
    const { columns, entries } = this.index(name)
    for (const entry of entries.up((one) => compareTo(one, columns, prefix) < 0)) {
      if (compareTo(entry, columns, prefix) !== 0) return
      rows.add(entry.row)
    }
  }

  /** @param name Default: the key. */
  index(name: string | undefined): SortedIndex {
    return this.#byName.get(name) ?? this.#build(name)
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
    const entry = { row, sequence: ++this.#inserted }
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
    const indexes = before && after ? this.#built.filter(({ columns }) => differ(before, after, columns)) : this.#built
    if (before) for (const { optional, entries } of indexes) if (isIndexed(before, optional)) entries.delete(entry)
    if (!after) return
    entry.row = after
    for (const { optional, entries } of indexes) if (isIndexed(after, optional)) entries.add(entry)
  }

  /** The record, if it has the version of the row. */
  #find(text: string, { version }: Row): Entry | undefined {
    const entry = this.#entries.get(text)
    return entry?.row.version === version ? entry : undefined
  }

  #build(name: string | undefined): SortedIndex {
    const columns = name === undefined ? this.key : this.#indexes[name]
    if (!columns) throw new Error(`the records have no index ${name}`)
    const after = columns.map((_, length) => columns.slice(length))
    const isBelow = (one: Entry, other: Entry): boolean => compareEntries(one, other, columns) < 0
    const index: SortedIndex = {
      columns,
      optional: columns.filter((column) => this.#optional.has(column)),
      entries: new SortedList(isBelow),
      columnsAfter: (length) => after[length] ?? [],
    }
    const indexed = [...this.#entries.values()].filter(({ row }) => isIndexed(row, index.optional))
    for (const entry of indexed.sort((one, other) => compareEntries(one, other, columns))) index.entries.add(entry)
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

/** Compares columns of two entries, then their insertion. Negative: the first is below the other. */
export function compareEntries(one: Entry, other: Entry, columns: readonly string[]): number {
  for (const column of columns) {
    const value = one.row[column] as Value
    const against = other.row[column] as Value
    if (value !== against) return value < against ? -1 : 1
  }
  return one.sequence - other.sequence
}

/** Compares an entry with values of the columns, as many as there are, and then of its insertion. Negative: it is below them. */
export function compareTo({ row, sequence }: Entry, columns: readonly string[], values: Prefix): number {
  for (let at = 0; at < values.length; at++) {
    const column = columns[at]
    const value = column === undefined ? sequence : (row[column] as Value)
    const against = values[at] as Value
    if (value !== against) return value < against ? -1 : 1
  }
  return 0
}

function differ(one: Row, other: Row, columns: readonly string[]): boolean {
  return columns.some((column) => one[column] !== other[column])
}

/** Records with an absent column are not in an index of it. */
function isIndexed(row: Row, optional: readonly string[]): boolean {
  for (const column of optional) if (row[column] === null || row[column] === undefined) return false
  return true
}

/** Joins the values of a key. Different keys of one kind give different texts. */
function joined(values: readonly unknown[]): string {
  let text = ''
  for (const value of values) text += keyPart(value)
  return text
}

function keyPart(value: unknown): string {
  return typeof value === 'string' ? `${value.length}:${value}` : `${value}:`
}
