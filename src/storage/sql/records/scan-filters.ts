import { declarationOf, type Kind } from '../../engine/kinds.ts'
import type { Filter } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { contains, type Parameters, sameEach, tableAlong } from '../dialects/dialects.ts'
import { TABLES } from '../tables/tables.ts'
import { wholeNumber } from './scan-bounds.ts'

/**
 * Conditions on a row, as SQL. Binds parameters in the order of the text. Another record is looked up once, by a subquery for one value,
 * which no planner turns into a join.
 */
export function filterText(row: string, filters: readonly Filter[], parameters: Parameters, db: Database): string {
  const texts: string[] = []
  for (const group of byRecord(filters)) {
    const [first] = group
    if (first?.of === undefined) texts.push(...group.map((filter) => oneText(row, filter, parameters, db)))
    else texts.push(otherText(row, group, first, first.of, parameters, db))
  }
  return texts.join(' and ')
}

/** Filters on the same record. */
function byRecord(filters: readonly Filter[]): readonly (readonly Filter[])[] {
  const groups = new Map<string, Filter[]>()
  for (const filter of filters) {
    const record = filter.of === undefined ? '' : JSON.stringify([filter.of, filter.key])
    const group = groups.get(record)
    if (group) group.push(filter)
    else groups.set(record, [filter])
  }
  return [...groups.values()]
}

function otherText(
  row: string,
  filters: readonly Filter[],
  { key: given }: Filter,
  kind: Kind,
  parameters: Parameters,
  db: Database,
): string {
  const { dialect, nameOf } = db
  const tests = filters.map((filter) => oneText('o', filter, parameters, db))
  const { key } = declarationOf(kind)
  const own = key.map((name) => `o.${dialect.quote(name)}`)
  const values = key.map((name) => {
    const known = given?.[name]
    return known === undefined ? `${row}.${dialect.quote(name)}` : parameters.add(known)
  })
  const { hasRivals } = TABLES[kind]
  const same = (hasRivals ? dialect.sameRow : sameEach)(own, values)
  const from = tableAlong({ table: kind, alias: 'o' }, dialect, nameOf)
  return `(select case when ${tests.join(' and ')} then 1 end from ${from} where ${same}) = 1`
}

function oneText(alias: string, filter: Filter, parameters: Parameters, db: Database): string {
  if (filter.column === undefined) return '1 = 1'
  return testText(`${alias}.${db.dialect.quote(filter.column)}`, filter, parameters, db)
}

/** An absent value passes no test: the condition is then null. */
function testText(value: string, filter: Filter, parameters: Parameters, { dialect }: Database): string {
  if ('in' in filter) {
    if (filter.in.length === 0) return '1 = 0'
    const [only, ...others] = filter.in
    if (others.length === 0) return `${value} = ${parameters.add(only)}`
    return `${value} in (${filter.in.map((one) => parameters.add(one)).join(', ')})`
  }
  if ('contains' in filter) return contains(value, parameters.add(filter.contains), dialect)
  if ('lacks' in filter) return `not (${contains(value, parameters.add(filter.lacks), dialect)})`
  if ('below' in filter) return `${value} < ${parameters.add(wholeNumber(filter.below, Math.ceil))}`
  return '1 = 1'
}
