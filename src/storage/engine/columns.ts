/**
 * Declaration of a column. The first word is its content: `key`, a text in an index, of up to 200 characters or the number that follows;
 * `id`, a `key` that never changes; `text`, any text; `json`, a value that only the engine reads; `list`, a list of JSON objects that a
 * claim extends; `integer`, up to 2^53 - 1, instants in epoch milliseconds; `flag`, 1 or absent.
 *
 * Then, in any order: `optional`, it may be absent; `fixed`, updates do not change it; `kept`, an update with `null` keeps it; `personal`, it
 * holds data of a person, which an erasure removes. A column that a later migration adds says `since` with its number, and is `optional`:
 * processes of the version before insert records without it.
 */
export type ColumnWords = `${ColumnKind | 'id'}${'' | ` ${string}`}`

/** The kind of a column's values. */
export type ColumnKind = 'key' | 'text' | 'json' | 'list' | 'integer' | 'flag'

/** A column. */
export interface Column {
  readonly kind: ColumnKind
  /** Most characters of a `key`. */
  readonly length?: number
  readonly optional: boolean
  readonly fixed: boolean
  readonly kept: boolean
  readonly personal: boolean
  /** Number of the migration that brings it. */
  readonly since: number
}

type Scalar<Words extends string> = Words extends `${'integer' | 'flag'}${string}`
  ? number
  : Words extends `${'json' | 'list'}${string}`
    ? 'json'
    : string

/** The type of a column's values; `'json'` stands for that of its JSON. */
export type ReadColumn<Words extends string> =
  | Scalar<Words>
  | (Words extends `flag${string}` | `${string}optional${string}` | `${string}kept${string}` ? null : never)

const KEY_LENGTH = 200

/** The column that its words declare. */
export function columnOf(words: ColumnWords): Column {
  const [content = '', ...others] = words.split(' ')
  const has = (word: string): boolean => others.includes(word)
  const kind = (content === 'id' ? 'key' : content) as ColumnKind
  const length = /^\d+$/.test(others[0] ?? '') ? Number(others[0]) : KEY_LENGTH
  return {
    kind,
    ...(kind === 'key' && { length }),
    optional: kind === 'flag' || has('optional'),
    fixed: content === 'id' || has('fixed'),
    kept: has('kept'),
    personal: has('personal'),
    since: has('since') ? Number(others[others.indexOf('since') + 1]) : 1,
  }
}

/** Whether values of a column are numbers. */
export function isNumber({ kind }: Pick<Column, 'kind'>): boolean {
  return kind === 'integer' || kind === 'flag'
}

/** Whether values of a column are JSON. */
export function isJson({ kind }: Pick<Column, 'kind'>): boolean {
  return kind === 'json' || kind === 'list'
}
