import type { Kind } from '../../engine/kinds.ts'
import type { Found, Prefix, Records, Wanted } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { functionName } from '../connection/database-functions.ts'
import { type Dialect, sameEach } from '../dialects/dialects.ts'
import {
  allColumns,
  cachedText,
  lookUp,
  type NameTable,
  Parameters,
  type StatementTexts,
  tableAlong,
} from '../dialects/statements.ts'
import { columnsOf, convertRow, indexColumns, type KindColumn, type Row, recordFrom } from '../tables/record-columns.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import { sameKey } from './commit.ts'
import { snapshotReader } from './merge-snapshot.ts'

/** Kinds that are found by the same values. */
interface Part {
  /** Several: they are found by the same whole key of one column. */
  readonly kinds: readonly KindPart[]
  readonly index: string | undefined
  /** The leading columns of the key or the index. */
  readonly by: readonly string[]
  readonly values: readonly Prefix[]
}

interface KindPart {
  readonly kind: Kind
  readonly columns: readonly KindColumn[]
}

/** Reads all records in one statement: as they were at one moment. */
export function recordReader(db: Database): Records['read'] {
  const texts: StatementTexts = new Map()
  const readSnapshot = snapshotReader(db)

  return async (given) => {
    const wanted = given.filter(({ with: prefixes }) => prefixes.length > 0)
    const snapshot = await readSnapshot(wanted)
    if (snapshot) return snapshot
    const parts = partsOf(wanted)
    const [first, ...others] = parts
    if (!first) return {}
    const found = new Map<Kind, Row[]>()
    if (others.length > 0) await readTogether(parts, found, texts, db)
    else await readPart(first, found, texts, db)
    return Object.fromEntries(isOverlapping(parts) ? [...found].map(withoutRepeats) : found) as Found
  }
}

function partsOf(wanted: readonly Wanted[]): readonly Part[] {
  const parts: (Part & { kinds: KindPart[] })[] = []
  for (const { kind, index, with: prefixes, columns } of wanted) {
    const names = columns && [...indexColumns(kind, undefined), ...columns]
    const part = { kind, columns: columnsOf(kind, names) }
    for (const length of new Set(prefixes.map((prefix) => prefix.length))) {
      const by = indexColumns(kind, index).slice(0, length)
      const values = distinct(prefixes.filter((prefix) => prefix.length === length))
      const joined = parts.find((one) => isOneKey(one) && one.by[0] === by[0] && isSame(one.values, values))
      const isNew = !joined?.kinds.some((one) => one.kind === kind)
      if (joined && isNew && isOneKey({ kinds: [part], index, by })) joined.kinds.push(part)
      else parts.push({ kinds: [part], index, by, values })
    }
  }
  return parts
}

/** Whether its values are whole keys of one column. */
function isOneKey({ kinds, index, by }: Omit<Part, 'values'>): boolean {
  const [first] = kinds
  return by.length === 1 && index === undefined && first !== undefined && TABLES[first.kind].primaryKey.length === 1
}

function isSame(one: readonly Prefix[], other: readonly Prefix[]): boolean {
  return one.length === other.length && one.every(([value], at) => value === other[at]?.[0])
}

function distinct(prefixes: readonly Prefix[]): readonly Prefix[] {
  if (prefixes.length === 1) return prefixes
  const unique = new Map(
    prefixes.map((prefix) => [prefix.length === 1 ? prefix[0] : JSON.stringify(prefix), prefix] as const),
  )
  return unique.size === prefixes.length ? prefixes : [...unique.values()]
}

/** Whether two parts may have the same record. */
function isOverlapping(parts: readonly Part[]): boolean {
  if (parts.length === 1) return false
  const kinds = parts.flatMap((part) => part.kinds.map(({ kind }) => kind))
  return new Set(kinds).size < kinds.length
}

/** Each record once, with the columns of all parts. */
function withoutRepeats([kind, rows]: readonly [Kind, readonly Row[]]): [Kind, readonly Row[]] {
  const key = indexColumns(kind, undefined)
  const unique = new Map<string, Row>()
  for (const row of rows) {
    const name = JSON.stringify(key.map((column) => row[column]))
    const known = unique.get(name)
    unique.set(name, known ? { ...known, ...row } : row)
  }
  return [kind, [...unique.values()]]
}

type FoundRows = Map<Kind, Row[]>

function addRecord(found: FoundRows, kind: Kind, record: Row): void {
  const records = found.get(kind)
  if (records) records.push(record)
  else found.set(kind, [record])
}

async function readPart(part: Part, found: FoundRows, texts: StatementTexts, db: Database): Promise<void> {
  const [only, ...others] = part.kinds
  if (!only) return
  if (others.length > 0) {
    await readJoined(part, found, texts, db)
    return
  }
  const rows = await readKind(part, only, texts, db)
  if (rows.length === 0) return
  found.set(only.kind, rows as Row[])
  for (const row of rows) convertRow(only.columns, row)
}

/** Several kinds by one key. */
async function readJoined(part: Part, found: FoundRows, texts: StatementTexts, db: Database): Promise<void> {
  const { kinds } = part
  const select = (): string => kinds.map((one, nth) => selected(one, `r${nth}`, `r${nth}_`, db)).join(', ')
  const build = (): string => `select ${select()} ${fromText(part, db.dialect.parameter(1), db)}`
  const rows = await db.scan<Row>(cachedText(texts, shapeOf(part), build), [rowsText(part)])
  const key = part.by[0] ?? ''
  for (const [nth, { kind, columns }] of kinds.entries()) {
    const from = columns.map(({ name }) => `r${nth}_${name}`)
    const presence = `r${nth}_${key}`
    const records: Row[] = []
    for (const row of rows) if (row[presence] !== null) records.push(recordFrom(columns, from, row))
    if (records.length > 0) found.set(kind, records)
  }
}

function readKind(part: Part, kind: KindPart, texts: StatementTexts, db: Database): Promise<readonly Row[]> {
  if (isPluginText(part)) return readPluginTexts(part, db)
  const [only, ...more] = part.values
  const isSingle = only !== undefined && more.length === 0 && part.index === undefined
  return isSingle ? readSingle(part, kind, only, texts, db) : readList(part, kind, texts, db)
}

function readList(part: Part, kind: KindPart, texts: StatementTexts, db: Database): Promise<readonly Row[]> {
  const build = (): string => `select ${selected(kind, 'r0', '', db)} ${fromText(part, db.dialect.parameter(1), db)}`
  const text = cachedText(texts, shapeOf(part), build)
  const parameters = part.by.length === 0 ? [] : [rowsText(part)]
  const { hasRivals } = TABLES[kind.kind]
  return part.index !== undefined || hasRivals ? db.scan<Row>(text, parameters) : db.query<Row>(text, parameters)
}

/** Parameters for a single key are cheaper than a list. */
function readSingle(
  { by }: Part,
  kind: KindPart,
  values: Prefix,
  texts: StatementTexts,
  db: Database,
): Promise<readonly Row[]> {
  const { dialect, nameOf } = db
  const text = cachedText(texts, `single ${kindText(kind)} ${by.length}`, () => {
    const along = tableAlong({ table: kind.kind, alias: 'r' }, dialect, nameOf)
    const own = by.map((name) => `r.${dialect.quote(name)}`)
    const given = by.map((_, at) => dialect.parameter(at + 1))
    const { hasRivals } = TABLES[kind.kind]
    const same = (hasRivals ? dialect.sameRow : sameEach)(own, given)
    return `select ${selected(kind, 'r', '', db)} from ${along}${by.length > 0 ? ` where ${same}` : ''}`
  })
  return db.query<Row>(text, values)
}

/** Whether it is plugin records of one kind by texts of tenants, as the database function finds them. */
function isPluginText({ kinds: [part], index, by, values }: Part): boolean {
  if (part?.kind !== 'plugin_records' || by.length !== 3 || index === 'expiring') return false
  return part.columns.length === columnsOf('plugin_records').length && values.every(([kind]) => kind === values[0]?.[0])
}

function readPluginTexts({ by, values }: Part, db: Database): Promise<readonly Row[]> {
  const { dialect, nameOf, prefix } = db
  const column = RECORD_COLUMNS.find((one) => one === by[2]) as RecordColumn
  const given = JSON.stringify(values.map(([, tenant, text]) => ({ tenant, text })))
  const [first, second] = [dialect.parameter(1), dialect.parameter(2)]
  if (!dialect.hasFunctions) {
    const text = findText(column, second, first, dialect, nameOf)
    return db.query<Row>(text, [given, values[0]?.[0]])
  }
  const call = `${functionName('records', dialect, prefix)}(${first}, '${column}', ${second})`
  return db.query<Row>(`select * from ${call}`, [values[0]?.[0], given])
}

/** All parts in one statement: rows of different kinds share columns by their types. */
async function readTogether(
  parts: readonly Part[],
  found: FoundRows,
  texts: StatementTexts,
  db: Database,
): Promise<void> {
  const each = parts.flatMap((part) => part.kinds.map((kind) => ({ ...part, kinds: [kind] })))
  const slots = each.map(({ kinds: [kind] }) => slotsOf(kind?.columns ?? []))
  const text = cachedText(texts, each.map(shapeOf).join(' | '), () => {
    const parameters = new Parameters(db.dialect)
    const all = [...new Set(slots.flat())].sort()
    const branches = each.map((part, at) => {
      const [kind] = part.kinds
      const own = new Map(kind?.columns.map(({ name }, nth) => [slots[at]?.[nth], `r0.${db.dialect.quote(name)}`]))
      const columns = all.map((slot) => `${own.get(slot) ?? db.dialect.none(slot.startsWith('n'))} as ${slot}`)
      const given = part.by.length === 0 ? '' : parameters.add(undefined)
      return `select ${at} as part, ${columns.join(', ')} ${fromText(part, given, db)}`
    })
    return branches.join(' union all ')
  })
  const parameters = each.flatMap((part) => (part.by.length === 0 ? [] : [rowsText(part)]))
  for (const row of await db.scan<Row>(text, parameters)) {
    const at = Number(row.part)
    const [kind] = each[at]?.kinds ?? []
    if (kind) addRecord(found, kind.kind, recordFrom(kind.columns, slots[at] ?? [], row))
  }
}

/** Names of shared columns: `t0`, `t1` … for texts, `n0`, `n1` … for numbers. */
function slotsOf(columns: readonly KindColumn[]): readonly string[] {
  let texts = 0
  let numbers = 0
  return columns.map(({ isNumber }) => (isNumber ? `n${numbers++}` : `t${texts++}`))
}

function kindText({ kind, columns }: KindPart): string {
  return `${kind} ${columns.length === columnsOf(kind).length ? '' : columns.map(({ name }) => name)}`
}

function shapeOf({ kinds, index = '', by }: Part): string {
  return `${kinds.map(kindText)} by ${index} ${by.length}`
}

function selected({ columns }: KindPart, alias: string, prefix: string, { dialect: { quote } }: Database): string {
  return columns.map(({ name }) => `${alias}.${quote(name)} as ${quote(prefix + name)}`).join(', ')
}

/** The values of a part, as rows for {@link fromText}. */
function rowsText({ by, values }: Part): string {
  const [only, ...others] = by
  if (only !== undefined && others.length === 0) return JSON.stringify(values.map(([value]) => ({ [only]: value })))
  return JSON.stringify(values.map((prefix) => Object.fromEntries(by.map((name, at) => [name, prefix[at]]))))
}

/** Rows `r0`, `r1` … of the kinds of a part. @param given Its values. */
function fromText({ kinds, index, by }: Part, given: string, { dialect, nameOf }: Database): string {
  const [first] = kinds
  if (!first) return ''
  const { columns, indexes } = TABLES[first.kind]
  const present = indexes.find(({ name }) => name === index)?.present
  const isPresent = (alias: string): string => `${alias}.${dialect.quote(present ?? '')} is not null`
  const look = { ...(index !== undefined && { index }), isLeft: kinds.length > 1 }
  if (by.length === 0) {
    const all = tableAlong({ table: first.kind, alias: 'r0', ...look }, dialect, nameOf)
    return `from ${all}${present === undefined ? '' : ` where ${isPresent('r0')}`}`
  }
  const used = Object.fromEntries(by.map((name) => [name, columns[name] as ColumnType]))
  const joins = kinds.map(({ kind }, nth) => {
    const alias = `r${nth}`
    const same = index === undefined ? sameKey(TABLES[kind], by, dialect, alias) : sameInIndex(by, alias, dialect)
    const on = present === undefined ? same : `${isPresent(alias)} and ${same}`
    return lookUp({ table: kind, alias, on, ...look }, dialect, nameOf)
  })
  return `from ${dialect.rows(given, used, 'x')} ${joins.join(' ')}`
}

/** PostgreSQL has no index hints: there, only the index of the columns has the order. */
function sameInIndex(by: readonly string[], alias: string, dialect: Dialect): string {
  const { quote, hasLateral } = dialect
  const last = by.at(-1) ?? ''
  const leading = by.slice(0, hasLateral ? -1 : by.length)
  const same = leading.map((name) => `${alias}.${quote(name)} = x.${quote(name)}`)
  if (!hasLateral) return same.join(' and ')
  const [own, given] = [`${alias}.${quote(last)}`, `x.${quote(last)}`]
  return `${[...same, `${own} >= ${given}`, `${own} <= ${given}`].join(' and ')} order by ${own}`
}

const RECORDS_TABLE = 'plugin_records'

/** Columns by which records of a kind are found: the primary key, or one of the other indexes. */
export const RECORD_COLUMNS = ['key', 'a', 'b', 'c', 'd'] as const

export type RecordColumn = (typeof RECORD_COLUMNS)[number]

/**
 * Finds the records with any of the given texts in a column. PostgreSQL has no index hints: there, only the index of the column has
 * the order.
 * @param given Rows of tenants and texts, as a JSON array.
 */
export function findText(
  column: RecordColumn,
  kind: string,
  given: string,
  dialect: Dialect,
  nameOf: NameTable,
): string {
  const { tenant, [column]: text } = TABLES.plugin_records.columns
  const isOrdered = dialect.hasLateral && column !== 'key'
  const same = isOrdered
    ? `f.${column} >= x.text and f.${column} <= x.text order by f.${column}`
    : `f.${column} = x.text`
  const on = `f.kind = ${kind} and f.tenant = x.tenant and ${same}`
  const found = lookUp(
    { table: RECORDS_TABLE, ...(column !== 'key' && { index: `by_${column}` }), alias: 'f', on },
    dialect,
    nameOf,
  )
  return `select ${allColumns(RECORDS_TABLE, 'f', dialect)} from ${dialect.rows(given, { tenant, text }, 'x')} ${found}`
}
