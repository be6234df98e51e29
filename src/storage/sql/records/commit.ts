import { Conflict } from '../../engine/changes.ts'
import type { Column } from '../../engine/columns.ts'
import { KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Change, Records } from '../../engine/records.ts'
import { type Database, NOW, type Queries } from '../connection/database.ts'
import { functionName, scanStatement } from '../connection/database-functions.ts'
import { type Dialect, sameEach } from '../dialects/dialects.ts'
import { cachedText, lookUp, type NameTable, type StatementTexts, tableAlong } from '../dialects/statements.ts'
import { type Row, storedRow } from '../tables/record-columns.ts'
import { type ColumnType, TABLES, type Table } from '../tables/tables.ts'

/** Writes all changes in one transaction: on PostgreSQL in one statement. */
export function recordCommitter(db: Database): Records['commit'] {
  const { dialect, nameOf, prefix, transaction } = db
  const texts: StatementTexts = new Map()

  /**
   * One statement, in which each change is a call of a function. It locks compared rows first: a concurrent commit that changes one of
   * them waits, or was committed and is seen, since each function sees the commits before its call.
   */
  async function writeTogether(list: readonly TableChange[], on: Queries): Promise<void> {
    const text = cachedText(texts, list.map(({ do: what, kind }) => `${what} ${kind}`).join(), () => togetherText(list))
    const parameters = list.flatMap((change) => [...lockParameters(change), arrayOf(change), change.rows.length])
    const askedAt = db.askedAt()
    const [row] = await on.query<{ readonly now: unknown }>(text, parameters)
    db.learn(row?.now, askedAt)
  }

  /** Each write also returns the time, which saves queries of the clock. */
  function togetherText(list: readonly TableChange[]): string {
    let count = 0
    const next = (): string => dialect.parameter(++count)
    const calls = list.flatMap(({ do: what, kind }) => {
      const isLocked = what === 'compare'
      const lock = isLocked
        ? [`(select count(*) from ${functionName('scan', dialect, prefix)}(${next()}, ${next()}))`]
        : []
      return [...lock, `${functionName(what, dialect, prefix)}('${kind}', ${next()}::text::text[], ${next()})`]
    })
    return `select ${[`${NOW} as now`, ...calls].join(', ')}`
  }

  function lockParameters({ do: what, kind, rows }: TableChange): readonly string[] {
    if (what !== 'compare') return []
    const keys = keysOf(kind, rows)
    const found = `select o.version from ${nameOf(kind)} o where ${keyIs(kind, 'o', dialect)} for share`
    const text = `select d.version from ${keyRows(kind, dialect.parameter(1), dialect)} cross join lateral (${found}) d`
    return [scanStatement(text, [keys]), JSON.stringify([keys])]
  }

  async function writeInTurn(list: readonly TableChange[], on: Queries): Promise<void> {
    for (const part of list.flatMap((change) => partsOf(change, dialect))) {
      const { do: what, kind, rows } = part
      const build = (): string => changeText(part, dialect, nameOf)
      const isOfAnySize = dialect.values.of.includes(what) && !dialect.values.bySize
      const text = isOfAnySize
        ? build()
        : cachedText(texts, `${what} ${kind} ${dialect.values.bySize ? rows.length : ''}`, build)
      const parameters = changeParameters(part, dialect)
      const counted = what === 'compare' && (await on.query<{ readonly found: unknown }>(text, parameters))
      const changed = counted ? Number(counted[0]?.found) : await on.change(text, parameters)
      if (changed !== rows.length) throw new Conflict(`${what} of ${changed} rows of ${rows.length}`)
    }
  }

  function write(list: readonly TableChange[]): Promise<void> {
    if (!dialect.hasFunctions) return transaction((on) => writeInTurn(list, on))
    // In the host's transaction, a failure is undone to a savepoint.
    return db.isTransaction ? transaction((on) => writeTogether(list, on)) : writeTogether(list, db)
  }

  return async (changes) => {
    if (changes.every((change) => change.do === 'compare')) return isUnchanged(changes, db)
    const list = tableChanges(changes)
    try {
      if (list.length > 0) await write(list)
      return true
    } catch (cause) {
      if (cause instanceof Conflict) return false
      throw cause
    }
  }
}

/** Compares versions in one statement without locks: the records were so at one moment. */
async function isUnchanged(given: readonly Change[], { dialect, nameOf, query, scan }: Database): Promise<boolean> {
  const compared = given.filter(({ records }) => records.length > 0)
  if (compared.length === 0) return true
  const counts = compared.map(({ kind }, at) => {
    const on = `${keyIs(kind, 'd', dialect)} and d.version = x.version`
    const found = lookUp({ table: kind, alias: 'd', on }, dialect, nameOf)
    return `(select count(*) from ${keyRows(kind, dialect.parameter(at + 1), dialect)} ${found})`
  })
  const parameters = compared.map(({ kind, records }) => keysOf(kind, records))
  const ask = compared.some(({ kind }) => TABLES[kind].hasRivals) ? scan : query
  const [row] = await ask<{ readonly amount: unknown }>(`select ${counts.join(' + ')} as amount`, parameters)
  return Number(row?.amount) === compared.reduce((sum, { records }) => sum + records.length, 0)
}

/** Keys and versions, as a parameter of {@link keyRows}. */
function keysOf(kind: Kind, records: readonly Row[]): string {
  return JSON.stringify(records, [...TABLES[kind].primaryKey, 'version'])
}

/** Rows `x` of keys and versions. */
function keyRows(kind: Kind, parameter: string, dialect: Dialect): string {
  const { primaryKey, columns } = TABLES[kind]
  const given = Object.entries(columns).filter(([name]) => primaryKey.includes(name) || name === 'version')
  return dialect.rows(parameter, Object.fromEntries(given), 'x')
}

/** Compares the key of a row with that of `x`. */
function keyIs(kind: Kind, alias: string, dialect: Dialect): string {
  return sameKey(TABLES[kind], TABLES[kind].primaryKey, dialect, alias)
}

/** Within a table, comparisons come before changes, and removals before insertions. */
const PHASES = ['compare', 'update', 'remove', 'insert'] as const

/** Changes of rows, sorted by table and primary key: all writers lock rows in the same order. */
function tableChanges(given: readonly Change[]): readonly TableChange[] {
  const { moved, others } = takeMoves(given)
  const list: TableChange[] = []
  for (const kind of KIND_NAMES)
    for (const phase of PHASES) {
      const rows = others.flatMap((change) => (change.do === phase && change.kind === kind ? rowsOf(change) : []))
      if (kind === 'listed' && phase === 'update') rows.push(...moved)
      if (rows.length > 0) list.push({ do: phase, kind, rows: rows.length > 1 ? rows.sort(byPrimaryKey(kind)) : rows })
    }
  return list
}

function rowsOf({ do: what, kind, records }: Change): readonly Row[] {
  return what === 'insert' || what === 'update' ? records.map((record) => storedRow(kind, record)) : records
}

function byPrimaryKey(kind: Kind): (one: Row, other: Row) => number {
  const { primaryKey } = TABLES[kind]
  return (one, other) => {
    for (const column of primaryKey) {
      const [first, second] = [String(one[column]), String(other[column])]
      if (first !== second) return first < second ? -1 : 1
    }
    return 0
  }
}

/** A removal and an insertion that differ in the column `moved` of the table alone are one update of it. */
function takeMoves(given: readonly Change[]): { readonly moved: readonly Row[]; readonly others: readonly Change[] } {
  const isOf = (action: Change['do'], { do: one, kind }: Change): boolean => one === action && kind === 'listed'
  if (!given.some((change) => isOf('remove', change)) || !given.some((change) => isOf('insert', change)))
    return { moved: [], others: given }
  const removed = new Map<string, Row>()
  for (const change of given)
    if (isOf('remove', change)) for (const row of change.records) removed.set(placeOf(row), row)
  const moved: Row[] = []
  const taken = new Set<Row>()
  for (const change of given) {
    if (!isOf('insert', change)) continue
    for (const row of change.records as readonly Row[]) {
      const old = removed.get(placeOf(row))
      if (!old || taken.has(old)) continue
      moved.push({ ...row, was: old.status })
      taken.add(old).add(row)
    }
  }
  const others = given.map((change): Change => {
    if (change.kind !== 'listed') return change
    return { ...change, records: change.records.filter((row) => !taken.has(row)) }
  })
  return { moved, others }
}

/** Its version is fixed: a record with another one is not the same. */
function placeOf({ tenant, created_at, dispatch_id, version }: Row): string {
  return JSON.stringify([tenant, created_at, dispatch_id, version])
}

/** Changes of one kind of the rows of one table. */
interface TableChange {
  readonly do: Change['do']
  readonly kind: Kind
  readonly rows: readonly Row[]
}

/** Makes rows with these columns, under the name `x`. */
type MakeRows = (columns: Readonly<Record<string, ColumnType>>) => string

/** @param makeRows Default: from the first parameter, by {@link changeParameters}. */
export function changeText(
  change: TableChange,
  dialect: Dialect,
  nameOf: NameTable,
  makeRows: MakeRows = (columns) => dialect.rows(dialect.parameter(1), columns, 'x'),
): string {
  const { do: what, kind } = change
  const name = nameOf(kind)
  const columns = WRITTEN[what][kind]
  const names = columns.map(([column]) => dialect.quote(column)).join(', ')
  if (!dialect.values.of.includes(what)) {
    const rows = makeRows(Object.fromEntries(columns))
    if (what === 'insert') return `insert into ${name} (${names}) select ${names} from ${rows}`
    return TEXTS[what](change, dialect, nameOf, rows)
  }
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = `values ${Array(change.rows.length).fill(row).join(', ')}`
  if (what === 'insert') return `insert into ${name} (${names}) ${values}`
  return `with x (${names}) as (${values}) ${TEXTS[what](change, dialect, nameOf, 'x')}`
}

function changeParameters(change: TableChange, dialect: Dialect): readonly unknown[] {
  if (!dialect.values.of.includes(change.do)) return [jsonOf(change)]
  const columns = WRITTEN[change.do][change.kind]
  return change.rows.flatMap((row) => columns.map(([name]) => row[name] ?? null))
}

/** Keeps a statement with one parameter per value below SQLite's limit of 32,766. */
const MAX_ROWS = 512

/** Splits a change into statements of few rows; where drivers keep them prepared, of 1, 2, 4, 8 … rows. */
function partsOf(change: TableChange, { values }: Dialect): readonly TableChange[] {
  const { rows } = change
  if (!values.of.includes(change.do)) return [change]
  const parts: TableChange[] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.rows.length ?? 1) {
    const left = rows.length - at
    const size = Math.min(MAX_ROWS, values.bySize ? 2 ** Math.floor(Math.log2(left)) : left)
    parts.push({ ...change, rows: rows.slice(at, at + size) })
  }
  return parts
}

function jsonOf({ do: what, kind, rows }: TableChange): string {
  const names = WRITTEN[what][kind].map(([name]) => name)
  return JSON.stringify(rows, names)
}

/** All values, row by row, as the text of an array: the functions of PostgreSQL read it faster than JSON. */
function arrayOf({ do: what, kind, rows }: TableChange): string {
  const columns = WRITTEN[what][kind]
  let text = ''
  for (const row of rows) {
    for (const [name] of columns) {
      const value = row[name]
      text += text === '' ? '{' : ','
      text += typeof value === 'string' ? `"${escaped(value)}"` : (value ?? 'null')
    }
  }
  return `${text}}`
}

/** Faster than one regular expression: most texts are ids, and JSON has many quotes. */
function escaped(text: string): string {
  const whole = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
  return whole.includes('"') ? whole.replaceAll('"', '\\"') : whole
}

type WriteText = (change: TableChange, dialect: Dialect, nameOf: NameTable, given: string) => string

/** Each given row looks up its row by primary key. With statistics of an empty table, a planner would otherwise scan the table. */
const TEXTS: Readonly<Record<Exclude<Change['do'], 'insert'>, WriteText>> = {
  update(change, dialect, nameOf, given) {
    const table = TABLES[change.kind]
    const sets = Object.entries(table.columns)
      .filter(([, { fixed }]) => !fixed)
      .map(([name, { kept }]) => {
        const column = dialect.quote(name)
        const target = dialect.updatesFrom ? column : `d.${column}`
        if (name === 'version') return `${target} = d.version + 1`
        return `${target} = ${kept ? `coalesce(x.${column}, d.${column})` : `x.${column}`}`
      })
      .join(', ')
    const same = (of: string): string => isSame(table, dialect, of, table.moved)
    if (!dialect.hasLateral) return joinedUpdate(change, sets, same('d'), dialect, nameOf, given)
    const found = placed(change, 'x.*', same('o'), nameOf, given)
    return `update ${nameOf(change.kind)} as d set ${sets} from (${found}) x where ${FOUND}`
  },
  remove(change, dialect, nameOf, given) {
    const table = TABLES[change.kind]
    const target = tableAlong({ table: change.kind, alias: 'd' }, dialect, nameOf)
    if (dialect.hasLateral) {
      const found = placed(change, 'x.version', isSame(table, dialect, 'o'), nameOf, given)
      return `delete from ${nameOf(change.kind)} as d using (${found}) x where ${FOUND}`
    }
    if (!dialect.updatesFrom) return `delete d from ${given} straight_join ${target} on ${isSame(table, dialect, 'd')}`
    // By `rowid`: with `in` over the primary key, SQLite may search by its leading columns alone.
    const found = `select d.rowid from ${given} ${dialect.straightJoin} ${target} on ${isSame(table, dialect, 'd')}`
    return `delete from ${nameOf(change.kind)} where rowid in (${found})`
  },
  compare(change, dialect, nameOf, given) {
    const same = (of: string): string => isSame(TABLES[change.kind], dialect, of)
    if (dialect.hasLateral) return `perform 1 from (${placed(change, 'x.version', same('o'), nameOf, given)}) x`
    const target = tableAlong({ table: change.kind, alias: 'd' }, dialect, nameOf)
    return `select count(*) as found from ${given} ${dialect.straightJoin} ${target} on ${same('d')}${dialect.readsLatest}`
  },
}

function joinedUpdate(
  { kind }: TableChange,
  sets: string,
  same: string,
  dialect: Dialect,
  nameOf: NameTable,
  given: string,
): string {
  const target = tableAlong({ table: kind, alias: 'd' }, dialect, nameOf)
  return dialect.updatesFrom
    ? `update ${target} set ${sets} from ${given} where ${same}`
    : `update ${given} straight_join ${target} on ${same} set ${sets}`
}

/** Compares the version again: a concurrent change of the row is a conflict. */
const FOUND = 'd.ctid = x.found_at and d.version = x.version'

/** The given rows that still have their version, with their `ctid`. */
function placed({ kind }: TableChange, columns: string, same: string, nameOf: NameTable, given: string): string {
  const found = `select o.ctid as found_at from ${nameOf(kind)} o where ${same} offset 0`
  return `select ${columns}, o.found_at from ${given} cross join lateral (${found}) o`
}

/**
 * @param columns The leading columns of the primary key. The row to find them in is `x`.
 * @param moved The column whose value before is `was` in that row.
 */
export function sameKey(
  table: Pick<Table, 'hasRivals'>,
  columns: readonly string[],
  dialect: Dialect,
  of: string,
  moved?: string,
): string {
  const own = columns.map((column) => `${of}.${dialect.quote(column)}`)
  const given = columns.map((column) => `x.${dialect.quote(column === moved ? WAS : column)}`)
  return (table.hasRivals ? dialect.sameRow : sameEach)(own, given)
}

function isSame(table: Table, dialect: Dialect, of: string, moved?: string): string {
  return `${sameKey(table, table.primaryKey, dialect, of, moved)} and ${of}.version = x.version`
}

const WAS = 'was'

type Columns = readonly (readonly [name: string, column: Column])[]

/** Columns that each kind of change writes, besides the primary key. */
const WRITTEN: Readonly<Record<Change['do'], Readonly<Record<Kind, Columns>>>> = {
  insert: columnsIn(() => true),
  update: withMoved(columnsIn((name, { fixed }) => !fixed || name === 'version')),
  remove: columnsIn((name) => name === 'version'),
  compare: columnsIn((name) => name === 'version'),
}

function columnsIn(wanted: (name: string, column: Column) => boolean): Readonly<Record<Kind, Columns>> {
  return forKinds(({ columns, primaryKey }) =>
    Object.entries(columns).filter(([name, column]) => wanted(name, column) || primaryKey.includes(name)),
  )
}

function withMoved(written: Readonly<Record<Kind, Columns>>): Readonly<Record<Kind, Columns>> {
  return forKinds(({ moved, columns }, kind) => {
    const before = moved === undefined ? undefined : columns[moved]
    return before ? [...written[kind], [WAS, before]] : written[kind]
  })
}

function forKinds(columnsOf: (table: Table, kind: Kind) => Columns): Readonly<Record<Kind, Columns>> {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, columnsOf(TABLES[kind], kind)])) as Record<Kind, Columns>
}
