import type { Dialect } from './dialects.ts'

/** Whether a text has another one in it, to the letter. */
export function holds(text: string, part: string, { name }: Dialect): string {
  return `${name === 'postgresql' ? 'strpos' : 'instr'}(${text}, ${part}) > 0`
}

/**
 * Removes the rows of a table that a `select` gives these columns of. It is done once, whatever the plan: it may have a limit.
 */
export function removalText(table: string, columns: readonly string[], select: string, dialect: Dialect): string {
  const list = (prefix: string): string => columns.map((column) => `${prefix}.${dialect.quote(column)}`).join(', ')
  if (dialect.updatesFrom)
    return `with x as materialized (${select}) delete from ${table} as d where (${list('d')}) in (select ${list('x')} from x)`
  const same = columns.map((column) => `d.${dialect.quote(column)} = x.${dialect.quote(column)}`)
  // In that order: where it read all of the table first, it would wait for rows that are not to go.
  return `delete d from (${select}) as x straight_join ${table} as d on ${same.join(' and ')}`
}
