import type { Column, Kind } from '../schema/table.ts'

/** The databases that there is a store for. */
export type DialectName = 'sqlite' | 'postgresql' | 'mysql' | 'mariadb'

/** What of an error of the driver tells what it is about. */
interface DriverError {
  readonly code?: unknown
  readonly errcode?: unknown
}

/** Where databases differ: everything else is the same SQL for all of them. */
export interface Dialect {
  readonly name: DialectName
  /** Epoch milliseconds by the database's clock, the same throughout a statement. */
  readonly now: string
  /** How a parameter is written: by its number, or as `?`. */
  readonly parameter: (number: number) => string
  /** A list of rows from a JSON array of objects: with these columns, under this name. */
  readonly rows: (parameter: string, columns: Readonly<Record<string, Column>>, name: string) => string
  /** What is written is given as rows of parameters, and not as such a list. */
  readonly givesValues: boolean
  /** A `json` column of such a list may be given as the array or object itself; it is read as its text. */
  readonly nestsJson: boolean
  readonly concat: (...parts: readonly string[]) => string
  /** Compares two values in a way that no index serves, where a planner might take the wrong one. */
  readonly same: (one: string, other: string) => string
  readonly quote: (name: string) => string
  readonly types: Readonly<Record<Kind, (length: number) => string>>
  /** What comes after a definition of a table. */
  readonly tableOptions: string
  /** An index may leave out rows. */
  readonly partialIndexes: boolean
  /** A subquery may depend on what stands before it. */
  readonly hasLateral: boolean
  /** Joins what stands before it with a table, in that order. */
  readonly straightJoin: string
  /** Has a table be read along an index, where a database takes hints. */
  readonly along: (index: string) => string
  /** The name of a table's primary key, as {@link along} takes it. */
  readonly primaryKeyOf: (table: string) => string
  /** What is done most often is a function of the database: one round trip, and a plan that is kept. */
  readonly hasFunctions: boolean
  /** `update … from`; otherwise `update … join`. */
  readonly updatesFrom: boolean
  /** Locks the rows of a `select`, and passes over those that others have locked. */
  readonly skipLocked: string
  /** Has a `select` read what is committed now, where a transaction otherwise goes on seeing what it first saw. */
  readonly readsLatest: string
  /** Begins a transaction that writes: the statements for it. */
  readonly begin: readonly string[]
  /** Others are writing: nothing was begun, and the same statement may be tried again. */
  readonly isBusy: (error: DriverError) => boolean
  /** What was read is no longer so, or others were in the way: to be tried again from the start. */
  readonly isConflict: (error: DriverError) => boolean
  /** What is to be written is refused by itself: what is written beside it is not to blame. */
  readonly isRefused: (error: DriverError) => boolean
}

const ascii = (name: string): string => `"${name}"`

const POSTGRESQL: Dialect = {
  name: 'postgresql',
  now: 'floor(extract(epoch from statement_timestamp()) * 1000)::bigint',
  parameter: (number) => `$${number}`,
  rows: (parameter, columns, name) => {
    const types = Object.entries(columns).map(([column, { kind }]) => `${column} ${isNumber(kind) ? 'bigint' : 'text'}`)
    return `json_to_recordset(${parameter}::json) as ${name}(${types.join(', ')})`
  },
  givesValues: false,
  nestsJson: true,
  concat: (...parts) => parts.join(' || '),
  same: (one, other) => `${one} is not distinct from ${other}`,
  quote: ascii,
  types: {
    key: () => 'text collate "C"',
    text: () => 'text',
    json: () => 'text',
    integer: () => 'bigint',
    flag: () => 'smallint',
  },
  tableOptions: '',
  partialIndexes: true,
  hasLateral: true,
  straightJoin: 'cross join',
  along: () => '',
  primaryKeyOf: (table) => `${table}_pkey`,
  hasFunctions: true,
  updatesFrom: true,
  skipLocked: ' for update skip locked',
  readsLatest: '',
  begin: ['begin'],
  isBusy: () => false,
  isConflict: ({ code }) => ['23505', '40001', '40P01', '55P03'].includes(String(code)),
  isRefused: ({ code }) => typeof code === 'string' && /^(22|23|54)/.test(code),
}

/** As `node:sqlite` tells them: busy, locked, a primary key or a unique one that is there already; too big, and the like. */
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
  givesValues: true,
  nestsJson: false,
  concat: (...parts) => parts.join(' || '),
  same: (one, other) => `${one} = ${other}`,
  quote: ascii,
  types: {
    key: () => 'text',
    text: () => 'text',
    json: () => 'text',
    integer: () => 'integer',
    flag: () => 'integer',
  },
  tableOptions: '',
  partialIndexes: true,
  hasLateral: false,
  straightJoin: 'cross join',
  along: (index) => ` indexed by ${index}`,
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

const MYSQL_CONFLICTS: readonly unknown[] = ['ER_DUP_ENTRY', 'ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_CHECKREAD']

const MYSQL: Dialect = {
  name: 'mysql',
  now: "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)",
  parameter: () => '?',
  rows: mysqlRows('utf8mb4_0900_bin'),
  givesValues: false,
  nestsJson: false,
  concat: (...parts) => `concat(${parts.join(', ')})`,
  same: (one, other) => `${one} = ${other}`,
  quote: (name) => `\`${name}\``,
  types: {
    key: (length) => `varchar(${length})`,
    text: () => 'longtext',
    json: () => 'longtext',
    integer: () => 'bigint',
    flag: () => 'tinyint',
  },
  tableOptions: ' engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin',
  partialIndexes: false,
  hasLateral: false,
  straightJoin: 'straight_join',
  along: (index) => ` force index (${index})`,
  primaryKeyOf: () => 'primary',
  hasFunctions: false,
  updatesFrom: false,
  skipLocked: ' for update skip locked',
  readsLatest: ' lock in share mode',
  begin: ['set transaction isolation level read committed', 'start transaction'],
  isBusy: () => false,
  isConflict: ({ code }) => MYSQL_CONFLICTS.includes(code),
  isRefused: ({ code }) =>
    /^ER_(NET_PACKET_TOO_LARGE|DATA_TOO_LONG|TRUNCATED|BAD_NULL|DUP_ENTRY|INVALID_JSON|WARN_DATA)/.test(String(code)),
}

/** `mariadb` has another name for the collation in which nothing equals anything but itself. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  sqlite: SQLITE,
  postgresql: POSTGRESQL,
  mysql: MYSQL,
  mariadb: {
    ...MYSQL,
    name: 'mariadb',
    rows: mysqlRows('utf8mb4_nopad_bin'),
    tableOptions: ' engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin',
  },
}

/** @param collation That of the tables: a name that is looked for equals nothing but itself here either. */
function mysqlRows(collation: string): Dialect['rows'] {
  return (parameter, columns, name) => {
    const types = Object.entries(columns).map(([column, { kind, length }]) => {
      const text = `${length ? `varchar(${length})` : 'longtext'} collate ${collation}`
      return `${column} ${isNumber(kind) ? 'bigint' : text} path '$.${column}'`
    })
    return `json_table(${parameter}, '$[*]' columns (${types.join(', ')})) as ${name}`
  }
}

function isNumber(kind: Kind): boolean {
  return kind === 'integer' || kind === 'flag'
}
