import type { NameTable } from '../schema/name-table.ts'
import type { TableName } from '../schema/records.ts'
import type { Dialect } from './dialects.ts'

/** How a table is joined: a few of its rows for each row of what stands before it, by one index. */
export interface LookUp {
  readonly table: TableName
  readonly alias: string
  /** May name columns of what stands before it. Names all leading columns of the index, or enough of them. */
  readonly on: string
  /** By its short name. Default: the primary key. */
  readonly index?: string
  /** A row without match stays. */
  readonly isLeft?: boolean
}

/**
 * Joins a table in a way that a planner cannot turn round: with statistics of a table that was empty it would read all of the
 * table first. PostgreSQL takes no hints: there a subquery that it may not pull up depends on what stands before it.
 */
export function lookUp(join: LookUp, dialect: Dialect, nameOf: NameTable): string {
  const { table, alias, on, isLeft = false } = join
  if (dialect.hasLateral) {
    const rows = `lateral (select * from ${nameOf(table)} ${alias} where ${on} offset 0) ${alias}`
    return isLeft ? `left join ${rows} on true` : `cross join ${rows}`
  }
  const kind = isLeft ? 'left join' : dialect.straightJoin
  return `${kind} ${tableAlong(join, dialect, nameOf)} on ${on}`
}

/** A table to be read along one of its indexes, where a database takes such hints. */
export function tableAlong(
  { table, alias, index }: Pick<LookUp, 'table' | 'alias' | 'index'>,
  dialect: Dialect,
  nameOf: NameTable,
): string {
  return `${nameOf(table)} as ${alias}${dialect.along(nameOf.index(table, index))}`
}
