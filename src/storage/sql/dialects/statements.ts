import type { Kind } from '../../engine/kinds.ts'
import { TABLES } from '../tables/tables.ts'
import type { Dialect } from './dialects.ts'

export interface NameTable {
  (table: Kind): string
  /** @param index Short name. Default: the primary key. */
  index(table: Kind, index?: string): string
}

export function tableNames(dialect: Dialect, prefix: string): NameTable {
  return Object.assign((table: Kind) => dialect.quote(`${prefix}${table}`), {
    index: (table: Kind, index?: string) =>
      dialect.quote(index === undefined ? dialect.primaryKeyOf(`${prefix}${table}`) : `${prefix}${table}_${index}`),
  })
}

/** A statement and its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export class Parameters {
  readonly values: unknown[] = []
  readonly #dialect: Dialect

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  add(value: unknown): string {
    return this.#dialect.parameter(this.values.push(value))
  }
}

/** Joins a table by one index, for each preceding row. */
export interface LookUp {
  readonly table: Kind
  readonly alias: string
  /** Compares the leading columns of the index. May refer to preceding tables. */
  readonly on: string
  /** Short name. Default: the primary key. */
  readonly index?: string
  readonly isLeft?: boolean
}

/**
 * Prevents a planner from reordering the join, as it would with statistics of an empty table. PostgreSQL has no hints: there it is a
 * lateral subquery that cannot be pulled up.
 */
export function lookUp(join: LookUp, dialect: Dialect, nameOf: NameTable): string {
  const { table, alias, on, isLeft = false } = join
  if (dialect.hasLateral) {
    const rows = `lateral (select * from ${nameOf(table)} ${alias} where ${on} offset 0) ${alias}`
    return isLeft ? `left join ${rows} on true` : `cross join ${rows}`
  }
  return `${isLeft ? 'left join' : dialect.straightJoin} ${tableAlong(join, dialect, nameOf)} on ${on}`
}

export function tableAlong(
  { table, alias, index }: Pick<LookUp, 'table' | 'alias' | 'index'>,
  dialect: Dialect,
  nameOf: NameTable,
): string {
  return `${nameOf(table)} as ${alias}${dialect.along(nameOf.index(table, index))}`
}

/** All columns of a table for a `select`. The prefix allows several tables in one row. */
export function allColumns(table: Kind, alias: string, dialect: Dialect, prefix = ''): string {
  const names = Object.keys(TABLES[table].columns)
  return names.map((name) => `${alias}.${dialect.quote(name)} as ${dialect.quote(prefix + name)}`).join(', ')
}

/** Texts of statements by their shape: they do not depend on values. */
export type StatementTexts = Map<string, string>

/** The text of a shape, which is built once. */
export function cachedText(texts: StatementTexts, shape: string, build: () => string): string {
  const known = texts.get(shape)
  if (known !== undefined) return known
  const text = build()
  texts.set(shape, text)
  return text
}
