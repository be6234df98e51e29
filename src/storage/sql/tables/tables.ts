import { type Column, columnOf } from '../../engine/columns.ts'
import { declarationOf, KIND_NAMES, type Kind, type RecordOf } from '../../engine/kinds.ts'

/** The part of a column from which its type in SQL follows. */
export type ColumnType = Pick<Column, 'kind' | 'length'>

/** An index. With `present`, it contains only rows where that column is not null, if the database supports it. */
export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly present?: string
  /** Number of the migration that brings it. */
  readonly since: number
}

/** One table. Every row has a `version`, which each update increments unless it is `fixed`; an update of another version changes nothing. */
export interface Table extends Omit<Settings, 'since'> {
  readonly columns: Readonly<Record<string, Column>>
  readonly primaryKey: readonly string[]
  /** Other indexes begin with a later column of the primary key, and a planner might choose one of those. */
  readonly hasRivals: boolean
  readonly indexes: readonly Index[]
  /** Number of the migration that brings it. */
  readonly since: number
}

/** The way in which rows of a table change, which the declaration of its kind does not say. */
interface Settings {
  /** A column of the primary key that updates change. They name its value before. */
  readonly moved?: string
  /** Percent of each page that PostgreSQL fills with new rows. The rest is for their updates, which then write less. Default: 100. */
  readonly fillfactor?: number
  /** Its rows are removed or updated soon: PostgreSQL vacuums it at 2 % of dead rows instead of 20 %, because searches read them. */
  readonly isChurned?: true
  /** Numbers of the migrations that bring indexes later than their columns, by name. */
  readonly since?: Readonly<Record<string, number>>
}

const SETTINGS: { readonly [Name in Kind]?: Settings } = {
  states: { fillfactor: 45, isChurned: true },
  jobs: { fillfactor: 60, isChurned: true },
  listed: { moved: 'status', isChurned: true },
  counters: { isChurned: true },
  sessions: { isChurned: true },
}

type TableOf<Name extends Kind> = Table & { readonly columns: Readonly<Record<keyof RecordOf<Name>, Column>> }

/** A table for each kind of records. */
export const TABLES: { readonly [Name in Kind]: TableOf<Name> } = Object.fromEntries(
  KIND_NAMES.map((kind) => [kind, tableOf(kind)]),
) as never

/** A part of the tables that a later migration brings has its number: that of a table is the one of its key. */
function tableOf(kind: Kind): Table {
  const { key, columns: words, indexes: declared = {} } = declarationOf(kind)
  const columns = Object.fromEntries(Object.entries(words).map(([name, word]) => [name, columnOf(word)]))
  const sinceOf = (names: readonly string[]): number => Math.max(...names.map((name) => columns[name]?.since ?? 1))
  const { since: later = {}, ...settings }: Settings = SETTINGS[kind] ?? {}
  const indexes = Object.entries(declared).map(([name, indexed]): Index => {
    const present = indexed.find((column) => columns[column]?.optional)
    const since = Math.max(sinceOf(indexed), later[name] ?? 1)
    return { name, columns: indexed, ...(present !== undefined && { present }), since }
  })
  const hasRivals = indexes.some(({ columns: [first = ''] }) => key.indexOf(first) > 0)
  return { columns, primaryKey: key, hasRivals, indexes, since: sinceOf(key), ...settings }
}
