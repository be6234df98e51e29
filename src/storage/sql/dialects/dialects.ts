import { type ColumnKind, isNumber } from '../../engine/columns.ts'
import type { Change } from '../../engine/records.ts'
import type { ColumnType, Table } from '../tables/tables.ts'

/** Supported databases. */
export type DialectName = 'sqlite' | 'postgresql' | 'mysql' | 'mariadb'

interface DriverError {
  readonly code?: unknown
  readonly errcode?: unknown
  readonly constraint?: unknown
  readonly message?: unknown
}

export interface Dialect {
  readonly name: DialectName
  /** Epoch milliseconds by the database's clock, constant within a statement. */
  readonly now: string
  /** A parameter as SQL: numbered, or `?`. */
  readonly parameter: (number: number) => string
  /** Rows from a JSON array of objects, with these columns, under this name. */
  readonly rows: (parameter: string, columns: Readonly<Record<string, ColumnType>>, name: string) => string
  /** Changes whose rows are `values` with parameters instead of a JSON array, `bySize` with few numbers of rows: drivers prepare each text. */
  readonly values: { readonly of: readonly Change['do'][]; readonly bySize?: true }
  readonly concat: (...parts: readonly string[]) => string
  /** Compares leading columns of a primary key so that a planner can choose no index that begins with another column. */
  readonly sameRow: (columns: readonly string[], values: readonly string[]) => string
  readonly quote: (name: string) => string
  /** Whether a text has a part. */
  readonly contains: (text: string, part: string) => string
  /** No value, in a column of numbers or of texts. */
  readonly none: (isNumber: boolean) => string
  readonly types: Readonly<Record<ColumnKind, (length: number) => string>>
  readonly tableOptions: string
  readonly partialIndexes: boolean
  /** Conditions of definitions. Without one, a definition that is made already fails, and `isMadeAlready` recognises it. */
  readonly ifMissing: Readonly<Record<'column' | 'index', string>>
  /** The definition of a table has its indexes: there is no condition for one. */
  readonly hasIndexesInTable: boolean
  /** Storage parameters of a table. */
  readonly storage: (table: Table) => string
  readonly hasLateral: boolean
  /** Joins two tables in this order. */
  readonly straightJoin: string
  /** An index hint, where the database supports hints. */
  readonly along: (index: string) => string
  /** It has no hints: a statement compares rows of all columns of an index, so that no other one fits. */
  readonly comparesIndexRows: boolean
  /** Reads several ranges of an index in its order; otherwise it sorts them. */
  readonly mergesRanges: boolean
  readonly primaryKeyOf: (table: string) => string
  /** The most frequent calls are database functions: one round trip, and the connection keeps the plan. */
  readonly hasFunctions: boolean
  /** `update … from`; otherwise `update … join`. */
  readonly updatesFrom: boolean
  /** Locks the rows of a `select` and skips locked ones. */
  readonly skipLocked: string
  /** Makes a `select` read the latest commits in a transaction that otherwise keeps its first snapshot. */
  readonly readsLatest: string
  readonly begin: readonly string[]
  /** Finds a row if the transaction never sees later commits, not even by a locking read, so that a retry cannot help. */
  readonly keepsSnapshot?: string
  /** The database is busy and nothing was begun: the same statement may be retried. */
  readonly isBusy: (error: DriverError) => boolean
  /** A write conflict or a lock: the work may be retried from the start. */
  readonly isConflict: (error: DriverError) => boolean
  /** The database refuses these values. */
  readonly isRefused: (error: DriverError) => boolean
}

const ascii = (name: string): string => `"${name}"`
const instr = (text: string, part: string): string => `instr(${text}, ${part}) > 0`
const IF_MISSING = ' if not exists'

const POSTGRESQL: Dialect = {
  name: 'postgresql',
  now: 'floor(extract(epoch from statement_timestamp()) * 1000)::bigint',
  parameter: (number) => `$${number}`,
  rows: (parameter, columns, name) => {
    const types = Object.entries(columns).map(([name, column]) => `${name} ${isNumber(column) ? 'bigint' : 'text'}`)
    return `json_to_recordset(${parameter}::json) as ${name}(${types.join(', ')})`
  },
  values: { of: [] },
  concat: (...parts) => parts.join(' || '),
  sameRow: (columns, values) => {
    const [row, given] = [`(${columns.join(', ')})`, `(${values.join(', ')})`]
    return `${row} >= ${given} and ${row} <= ${given}`
  },
  quote: ascii,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  // A union takes the types of its columns from the first part.
  none: (isNumber) => (isNumber ? 'null::bigint' : 'null::text'),
  types: {
    key: () => 'text collate "C"',
    text: () => 'text',
    json: () => 'text',
    list: () => 'text',
    integer: () => 'bigint',
    flag: () => 'smallint',
  },
  tableOptions: '',
  partialIndexes: true,
  ifMissing: { column: IF_MISSING, index: IF_MISSING },
  hasIndexesInTable: false,
  storage({ fillfactor, isChurned }) {
    const settings = [
      ...(fillfactor ? [`fillfactor = ${fillfactor}`] : []),
      ...(isChurned ? ['autovacuum_vacuum_scale_factor = 0.02'] : []),
    ]
    return settings.length > 0 ? ` with (${settings.join(', ')})` : ''
  },
  hasLateral: true,
  straightJoin: 'cross join',
  along: () => '',
  comparesIndexRows: true,
  mergesRanges: false,
  primaryKeyOf: (table) => `${table}_pkey`,
  hasFunctions: true,
  updatesFrom: true,
  skipLocked: ' for update skip locked',
  readsLatest: '',
  begin: ['begin'],
  keepsSnapshot: `select 1 where current_setting('transaction_isolation') in ('repeatable read', 'serializable')`,
  isBusy: () => false,
  // A unique index of the host is no conflict: another try would fail too.
  isConflict: ({ code, constraint = '_pkey' }) =>
    code === '23505' ? String(constraint).endsWith('_pkey') : ['40001', '40P01', '55P03'].includes(String(code)),
  isRefused: ({ code }) => typeof code === 'string' && /^(22|23|54)/.test(code),
}

/** Numeric codes of `node:sqlite`. */
const SQLITE_BUSY: readonly unknown[] = [5, 6, 261, 262, 517]
const SQLITE_CONFLICTS: readonly unknown[] = [...SQLITE_BUSY, 1555, 2067]
const SQLITE_REFUSALS: readonly unknown[] = [18, 19, 20, 25]

const SQLITE: Dialect = {
  name: 'sqlite',
  now: "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)",
  parameter: () => '?',
  rows: (parameter, columns, name) => {
    const values = Object.keys(columns).map((column) => `value ->> '$.${column}' as ${column}`)
    return `(select ${values.join(', ')} from json_each(${parameter})) as ${name}`
  },
  values: { of: ['insert', 'update', 'remove', 'compare'], bySize: true },
  concat: (...parts) => parts.join(' || '),
  sameRow: sameEach,
  quote: ascii,
  contains: instr,
  none: () => 'null',
  types: {
    key: () => 'text',
    text: () => 'text',
    json: () => 'text',
    list: () => 'text',
    integer: () => 'integer',
    flag: () => 'integer',
  },
  tableOptions: '',
  partialIndexes: true,
  ifMissing: { column: '', index: IF_MISSING },
  hasIndexesInTable: false,
  storage: () => '',
  hasLateral: false,
  straightJoin: 'cross join',
  along: (index) => ` indexed by ${index}`,
  comparesIndexRows: false,
  mergesRanges: false,
  primaryKeyOf: (table) => `sqlite_autoindex_${table}_1`,
  hasFunctions: false,
  updatesFrom: true,
  skipLocked: '',
  readsLatest: '',
  begin: ['begin immediate'],
  isBusy: ({ code, errcode }) => /^SQLITE_(BUSY|LOCKED)/.test(String(code)) || SQLITE_BUSY.includes(errcode),
  isConflict: ({ code, errcode }) =>
    /^SQLITE_(BUSY|LOCKED|CONSTRAINT_PRIMARYKEY|CONSTRAINT_UNIQUE)/.test(String(code)) ||
    SQLITE_CONFLICTS.includes(errcode),
  isRefused: ({ code, errcode }) =>
    /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT|RANGE)/.test(String(code)) || SQLITE_REFUSALS.includes(errcode),
}

const MYSQL_CONFLICTS: readonly unknown[] = ['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD']

const MYSQL: Dialect = {
  name: 'mysql',
  now: "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)",
  parameter: () => '?',
  rows: mysqlRows('utf8mb4_0900_bin'),
  // A list of one row takes the server longer than its values do.
  values: { of: ['insert'] },
  concat: (...parts) => `concat(${parts.join(', ')})`,
  sameRow: sameEach,
  quote: (name) => `\`${name}\``,
  contains: instr,
  none: () => 'null',
  types: {
    key: (length) => `varchar(${length})`,
    text: () => 'longtext',
    json: () => 'longtext',
    list: () => 'longtext',
    integer: () => 'bigint',
    flag: () => 'tinyint',
  },
  tableOptions: ' engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin',
  partialIndexes: false,
  ifMissing: { column: '', index: '' },
  hasIndexesInTable: true,
  storage: () => '',
  hasLateral: false,
  straightJoin: 'straight_join',
  along: (index) => ` force index (${index})`,
  comparesIndexRows: false,
  mergesRanges: true,
  primaryKeyOf: () => 'primary',
  hasFunctions: false,
  updatesFrom: false,
  skipLocked: ' for update skip locked',
  readsLatest: ' lock in share mode',
  begin: ['set transaction isolation level read committed', 'start transaction'],
  isBusy: () => false,
  isConflict: ({ code, message }) =>
    code === 'ER_DUP_ENTRY' ? /PRIMARY'$/.test(String(message)) : MYSQL_CONFLICTS.includes(code),
  isRefused: ({ code }) =>
    /^ER_(NET_PACKET_TOO_LARGE|DATA_TOO_LONG|TRUNCATED|BAD_NULL|DUP_ENTRY|INVALID_JSON|WARN_DATA)/.test(String(code)),
}

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
  mariadb: {
    ...MYSQL,
    name: 'mariadb',
    ifMissing: { column: IF_MISSING, index: IF_MISSING },
    rows: mysqlRows('utf8mb4_nopad_bin'),
    tableOptions: ' engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin',
  },
}

/** @param collation The binary collation of the tables, so that names compare exactly here too. */
function mysqlRows(collation: string): Dialect['rows'] {
  return (parameter, columns, name) => {
    const types = Object.entries(columns).map(([name, column]) => {
      const text = `${column.length ? `varchar(${column.length})` : 'longtext'} collate ${collation}`
      return `\`${name}\` ${isNumber(column) ? 'bigint' : text} path '$.${name}'`
    })
    return `json_table(${parameter}, '$[*]' columns (${types.join(', ')})) as ${name}`
  }
}

/** Compares each column with its value. */
export function sameEach(columns: readonly string[], values: readonly string[]): string {
  return columns.map((column, at) => `${column} = ${values[at]}`).join(' and ')
}
