import { type ColumnWords, columnOf, isJson, type ReadColumn } from './columns.ts'
import { KINDS } from './declarations.ts'
import type { JsonColumns, Stored } from './json-values.ts'

/** Declaration of a kind. */
interface Declaration {
  readonly key: readonly string[]
  readonly columns: Readonly<Record<string, ColumnWords>>
  /** Columns of each index by its name, in their order. A record with an absent one of them is not in the index. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

/** Name of a kind of records. */
export type Kind = keyof typeof KINDS

type Columns<Name extends Kind> = (typeof KINDS)[Name]['columns']

type JsonOf<Name extends string> = Name extends keyof JsonColumns ? Stored<JsonColumns[Name]> : never

type ValueOf<Name extends Kind, Column extends keyof Columns<Name> & string> =
  ReadColumn<Columns<Name>[Column] & string> extends infer Value
    ? Value extends 'json'
      ? JsonOf<`${Name}.${Column}`>
      : Value
    : never

/** A record of a kind. An absent value is `null`. */
export type RecordOf<Name extends Kind> = {
  readonly [Column in keyof Columns<Name> & string]: ValueOf<Name, Column>
}

/** Name of an index of a kind. */
export type IndexOf<Name extends Kind> = (typeof KINDS)[Name] extends { readonly indexes: infer Indexes }
  ? keyof Indexes & string
  : never

/** The declaration of a kind. */
export function declarationOf(kind: Kind): Declaration {
  return KINDS[kind]
}

/** Names of all kinds. */
export const KIND_NAMES: readonly Kind[] = Object.keys(KINDS) as Kind[]

/** Names of the columns of JSON of a kind. */
export function jsonColumnsOf(kind: Kind): readonly string[] {
  const columns = Object.entries(declarationOf(kind).columns)
  return columns.filter(([, words]) => isJson(columnOf(words))).map(([name]) => name)
}
