/**
 * What a column holds. `key`: text that is looked for, of at most so many characters; `text`: any; `json`: JSON that only this
 * store reads; `integer`: up to 2^53 - 1, instants in epoch milliseconds; `flag`: 1, or nothing.
 */
export type Kind = 'key' | 'text' | 'json' | 'integer' | 'flag'

/** One column of a table. */
export interface Column {
  readonly kind: Kind
  /** Of a `key`: its greatest length in characters. */
  readonly length?: number
  readonly optional?: true
  /** It is never written again. */
  readonly fixed?: true
  /** An update that says nothing of it leaves it as it is. */
  readonly kept?: true
  /** A change of the kind `count` adds to it. */
  readonly counted?: true
}

/** An index; of columns that may be absent only the rows that have the first `present` are in it, where a database can do that. */
export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly present?: string
  /** What takes its place where an index cannot leave out rows. */
  readonly instead?: readonly Index[]
}

/** One table. Every row has a `version`, which grows by 1 with every update: an update of another version changes nothing. */
export interface Table<Of = Readonly<Record<string, unknown>>> {
  readonly columns: Readonly<Record<keyof Of, Column>>
  readonly primaryKey: readonly (keyof Of)[]
  /**
   * Of the primary key what is compared, and not looked for: other indexes begin with it, and a planner that knows nothing of the
   * table yet might take one of those.
   */
  readonly compared?: readonly (keyof Of)[]
  readonly indexes: readonly Index[]
  /** Instants that the database derives where an index cannot leave out rows: absent in rows that are to be left out. */
  readonly derived?: Readonly<Record<string, string>>
}
