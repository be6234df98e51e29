import type { Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { Parameters, tableAlong } from './dialects.ts'
import { readRecord } from './read-record.ts'

const PAGE = 1_000

/**
 * Reads a whole table in the order of its primary key, without locks.
 * @param columns Besides the primary key and the version. The others of a record are `null`.
 * @yields Some records each.
 */
export async function* pagesOf<Name extends TableName>(
  table: Name,
  columns: readonly string[],
  db: Database,
): AsyncGenerator<Records[Name][]> {
  const { dialect, nameOf } = db
  const key = TABLES[table].primaryKey as readonly (keyof Records[Name] & string)[]
  const names = key.map((name) => `r.${dialect.quote(name)}`)
  const order = `order by ${names.join(', ')} limit ${PAGE}`
  const read = [...new Set([...key, 'version', ...columns])].map((name) => `r.${dialect.quote(name)}`).join(', ')
  const from = `select ${read} from ${tableAlong({ table, alias: 'r' }, dialect, nameOf)}`
  for (let last: Records[Name] | undefined, count = PAGE; count === PAGE; ) {
    const parameters = new Parameters(dialect)
    const reached = last
    const after = reached && afterRow(names, (at) => parameters.add(reached[key[at] as keyof Records[Name]]), db)
    const rows = await db.query<Readonly<Record<string, unknown>>>(
      `${from} ${after ? `where ${after}` : ''} ${order}`,
      parameters.values,
    )
    const records = rows.map((row) => readRecord(table, row))
    if (records.length > 0) yield records
    last = records.at(-1)
    count = records.length
  }
}

/** Whether a row comes after another. MySQL begins there in an index only with the long form. */
function afterRow(names: readonly string[], add: (at: number) => string, { dialect }: Database): string {
  if (dialect.updatesFrom) return `(${names.join(', ')}) > (${names.map((_, at) => add(at)).join(', ')})`
  const longer = names.map((name, at) =>
    [...names.slice(0, at).map((before, place) => `${before} = ${add(place)}`), `${name} > ${add(at)}`].join(' and '),
  )
  return `(${longer.map((one) => `(${one})`).join(' or ')})`
}
