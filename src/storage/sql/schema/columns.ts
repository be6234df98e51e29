/**
 * Content of a column. `key`: text in an index, up to `length` characters; `text`: any text; `json`: JSON that only this store reads;
 * `integer`: up to 2^53 - 1, instants in epoch milliseconds; `flag`: 1 or absent.
 */
export type Kind = 'key' | 'text' | 'json' | 'integer' | 'flag'

/** Whether values of a kind are numbers; all others are texts. */
export function isNumber(kind: Kind): boolean {
  return kind === 'integer' || kind === 'flag'
}

/** A part of the tables, with the migration that brings it. */
interface Part {
  /** Number of the migration. Default: 1. */
  readonly since?: number
}

/**
 * A column that a later migration adds to a table is `optional`: processes of the version before insert rows without it, and remove and
 * insert rows again without its value.
 */
export interface Column extends Part {
  readonly kind: Kind
  readonly length?: number
  readonly optional?: true
  readonly fixed?: true
  /** An update with `null` keeps it. */
  readonly kept?: true
  /** Holds data of a person, which an erasure removes. A test compares it with what erasures leave. */
  readonly personal?: true
}

/** An index. With `present`, it contains only rows where that column is not null, if the database supports it. */
export interface Index extends Part {
  readonly name: string
  readonly columns: readonly string[]
  readonly present?: string
}

/** One table. Every row has a `version`, which each update increments unless it is `fixed`; an update of another version changes nothing. */
export interface Table<Of = Readonly<Record<string, unknown>>> extends Part {
  readonly columns: Readonly<Record<keyof Of, Column>>
  readonly primaryKey: readonly (keyof Of)[]
  /** Other indexes begin with a later column of the primary key, and a planner might choose one of those. */
  readonly hasRivals?: true
  /** A column of the primary key that updates change. They name its value before. */
  readonly moved?: keyof Of & string
  /** Percent of each page that PostgreSQL fills with new rows. The rest is for their updates, which then write less. Default: 100. */
  readonly fillfactor?: number
  /** Its rows are removed or updated soon: PostgreSQL vacuums it at 2 % of dead rows instead of 20 %, because searches read them. */
  readonly isChurned?: true
  readonly indexes: readonly Index[]
}

export const fixed: (column: Column) => Column = (column) => ({ ...column, fixed: true })
export const nullable: (column: Column) => Column = (column) => ({ ...column, optional: true })
export const personal: (column: Column) => Column = (column) => ({ ...column, personal: true })
export const kept: (column: Column) => Column = (column) => ({ ...column, kept: true })

export const key: Column = { kind: 'key', length: 200 }
export const id: Column = fixed(key)
export const shortText: Column = { kind: 'key', length: 32 }
export const integer: Column = { kind: 'integer' }
export const anyText: Column = { kind: 'text' }
export const json: Column = { kind: 'json' }
export const flag: Column = { kind: 'flag', optional: true }
export const version: Column = { kind: 'integer' }
