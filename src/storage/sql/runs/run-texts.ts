import type { Dialect } from '../connection/dialects.ts'
import { tableAlong } from '../connection/look-ups.ts'
import type { NameTable } from '../schema/name-table.ts'
import type { TableName } from '../schema/records.ts'
import type { Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'

/** Whether a text has another one in it, to the letter. */
export function holds(text: string, part: string, { name }: Dialect): string {
  return `${name === 'postgresql' ? 'strpos' : 'instr'}(${text}, ${part}) > 0`
}

/**
 * Removes the rows of a table that a `select` gives these columns of. It is done once, whatever the plan: it may have a limit. It
 * leads, and each of its rows finds its own by the primary key, which begins with these columns.
 */
export function removalText(
  table: TableName,
  columns: readonly string[],
  select: string,
  dialect: Dialect,
  nameOf: NameTable,
): string {
  const { compared = [] }: Table = TABLES[table]
  const of = (row: string, column: string): string => `${row}.${dialect.quote(column)}`
  const target = tableAlong({ table, alias: 'd' }, dialect, nameOf)
  const same = columns.map((column) => {
    const sides = [of('d', column), of('x', column)] as const
    return compared.includes(column) ? dialect.same(...sides) : sides.join(' = ')
  })
  if (dialect.hasLateral) {
    // Not by where the rows are: one that another changes meanwhile is removed all the same.
    const found = columns
      .filter((column) => !compared.includes(column))
      .map((column) => `${of('d', column)} = any (array(select ${of('x', column)} from x))`)
    return `with x as materialized (${select}) delete from ${target} using x where ${[...same, ...found].join(' and ')}`
  }
  const list = (row: string): string => columns.map((column) => of(row, column)).join(', ')
  if (dialect.updatesFrom)
    return `with x as materialized (${select}) delete from ${target} where (${list('d')}) in (select ${list('x')} from x)`
  return `delete d from (${select}) as x straight_join ${target} on ${same.join(' and ')}`
}
