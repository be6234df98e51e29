import { type FaultCode, SallyportError } from '../../../errors.ts'
import { Conflict } from '../../engine/changes.ts'

const NO_FUNCTION: readonly unknown[] = ['42883', 'ER_SP_DOES_NOT_EXIST', 'ER_FUNC_INEXISTENT_NAME_COLLISION']
const NO_COLUMN: readonly unknown[] = ['42703', 'ER_BAD_FIELD_ERROR']
const NO_TABLE: readonly unknown[] = ['42P01', 'ER_NO_SUCH_TABLE', ...NO_COLUMN]
const MADE_ALREADY: readonly unknown[] = ['ER_DUP_FIELDNAME', 'ER_DUP_KEYNAME']

export function isNoSuchFunction(cause: unknown): boolean {
  return NO_FUNCTION.includes(memberOf(cause, 'code')) || /no such function/.test(String(memberOf(cause, 'message')))
}

export function isNoSuchColumn(cause: unknown): boolean {
  return NO_COLUMN.includes(memberOf(cause, 'code')) || /no such column/.test(String(memberOf(cause, 'message')))
}

/** The database has a column or an index of this name. */
export function isMadeAlready(cause: unknown): boolean {
  const message = String(memberOf(cause, 'message'))
  return MADE_ALREADY.includes(memberOf(cause, 'code')) || /^duplicate column name/.test(message)
}

/** Includes a missing column. */
export function isNoSuchTable(cause: unknown): boolean {
  return NO_TABLE.includes(memberOf(cause, 'code')) || /no such (table|column)/.test(String(memberOf(cause, 'message')))
}

export function notReady(what: string, remedy: string, options?: { readonly cause?: unknown }): SallyportError {
  return new SallyportError('config_invalid', `${what} ${remedy}`, [], options)
}

export const MIGRATE = '`await store.migrate()` or `npx sallyport migrate`'
export const REMEDY: string = `Run ${MIGRATE}, or the statements of \`await store.pendingMigrations()\`.`

/** A known failure of a driver. `config_invalid`: waiting does not help. `no_answer`: the next call may succeed. */
interface DriverFault {
  readonly code: Extract<FaultCode, 'config_invalid' | 'no_answer'>
  readonly what: string
  readonly remedy: string
}

const DATABASE_TIMEOUT: DriverFault = {
  code: 'no_answer',
  what: 'The database did not answer in time.',
  remedy: 'Check that it runs, and whether its pool is used up.',
}

const UNKNOWN_DATABASE: DriverFault = {
  code: 'config_invalid',
  what: 'The server has no database of this name.',
  remedy: 'Check the name that its driver was given, or create the database.',
}

const WRONG_PASSWORD: DriverFault = {
  code: 'config_invalid',
  what: 'The database refuses the user or the password.',
  remedy: 'Check both that its driver was given, and from where the user may connect.',
}

const NOT_GRANTED: DriverFault = {
  code: 'config_invalid',
  what: 'The database does not let this user do what the store does.',
  remedy: 'Grant it SELECT, INSERT, UPDATE and DELETE on the tables, and USAGE on their schema.',
}

const NOT_UNDERSTOOD: DriverFault = {
  code: 'config_invalid',
  what: 'The database does not understand a statement of the store.',
  remedy: 'Check the dialect that sqlStore() was given: `await store.ready()` compares it.',
}

const TOO_MANY: DriverFault = {
  code: 'no_answer',
  what: 'The database has no connection left.',
  remedy: 'Make the pools of its clients smaller, or allow it more connections.',
}

const NOT_PREPARED: DriverFault = {
  code: 'config_invalid',
  what: 'A pooler between the store and the database does not keep the prepared statements of a connection.',
  remedy: 'Leave preparedStatements out, or use one that does: PgBouncer 1.21 with max_prepared_statements.',
}

const FAULTS: Readonly<Record<string, DriverFault>> = {
  database_timeout: DATABASE_TIMEOUT,
  '3D000': UNKNOWN_DATABASE,
  ER_BAD_DB_ERROR: UNKNOWN_DATABASE,
  '28P01': WRONG_PASSWORD,
  '28000': WRONG_PASSWORD,
  ER_ACCESS_DENIED_ERROR: WRONG_PASSWORD,
  '42501': NOT_GRANTED,
  ER_TABLEACCESS_DENIED_ERROR: NOT_GRANTED,
  ER_DBACCESS_DENIED_ERROR: NOT_GRANTED,
  '42601': NOT_UNDERSTOOD,
  '26000': NOT_PREPARED,
  '42P05': NOT_PREPARED,
  ER_PARSE_ERROR: NOT_UNDERSTOOD,
  '53300': TOO_MANY,
  ER_CON_COUNT_ERROR: TOO_MANY,
}

const BROKEN: DriverFault = {
  code: 'no_answer',
  what: 'The connection to the database was closed.',
  remedy: 'Check that a database of this kind runs behind its host and port.',
}

const ENDED: DriverFault = {
  code: 'config_invalid',
  what: 'The pool of the database was ended.',
  remedy: 'Give the store one that stays open until `await sallyport.stop()`.',
}

/** Errors without a code, by the messages of pg, mysql2, Kysely and better-sqlite3. */
const MESSAGES: Readonly<Record<string, DriverFault>> = {
  'timeout exceeded when trying to connect': DATABASE_TIMEOUT,
  'Connection terminated due to connection timeout': DATABASE_TIMEOUT,
  'Connection terminated unexpectedly': BROKEN,
  'Connection terminated': BROKEN,
  'Client has encountered a connection error and is not queryable': BROKEN,
  'Client was closed and is not queryable': BROKEN,
  'Cannot use a pool after calling end on the pool': ENDED,
  'Pool is closed.': ENDED,
  'driver has already been destroyed': ENDED,
  'The database connection is not open': ENDED,
}

/** Codes of the operating system, of a lost connection, and of a server that starts or stops. */
const CONNECTION = /^(?:E[A-Z]{3,20}|PROTOCOL_CONNECTION_LOST|08\w{3}|57P0[1-3]|SQLITE_CANTOPEN|ER_SERVER_SHUTDOWN)$/

/** Finds a known failure by the code of its driver's error, or by a whole message: others may contain a user or a password. */
function faultOf(cause: unknown): DriverFault | undefined {
  const error = cause instanceof Conflict ? cause.cause : cause
  const code = memberOf(error, 'code')
  if (typeof code !== 'string') return knownBy(MESSAGES, memberOf(error, 'message'))
  return knownBy(FAULTS, code) ?? (CONNECTION.test(code) ? unnamed('no_answer', code, placeOf(error)) : undefined)
}

function knownBy(faults: Readonly<Record<string, DriverFault>>, key: unknown): DriverFault | undefined {
  return typeof key === 'string' && Object.hasOwn(faults, key) ? faults[key] : undefined
}

function unnamed(code: DriverFault['code'], driverCode: string, place: string): DriverFault {
  return {
    code,
    what: `The database cannot be used: its driver says ${driverCode}${place}.`,
    remedy: 'Check that it runs, and how it is reached.',
  }
}

const ADDRESS = /^[\da-f.:]{2,45}$/i
const HOST = /^[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/i
const SOCKET = /^\/[\w./-]{1,107}$/

/** ` at 127.0.0.1:5432`, ` for db.internal` or nothing: members of Node's errors that have the form of an address, a host or a socket. */
function placeOf(error: unknown): string {
  // An error of a host with several addresses has one for each of them.
  const first = Array.isArray(memberOf(error, 'errors')) ? memberOf(memberOf(error, 'errors'), '0') : error
  const [address, port, host] = ['address', 'port', 'hostname'].map((name) => memberOf(first, name))
  if (typeof host === 'string' && HOST.test(host)) return ` for ${host}`
  if (typeof address !== 'string') return ''
  if (SOCKET.test(address)) return ` at ${address}`
  if (!ADDRESS.test(address) || !Number.isInteger(port)) return ''
  return ` at ${address.includes(':') ? `[${address}]` : address}:${port}`
}

const UNKNOWN: DriverFault = {
  code: 'config_invalid',
  what: 'The database cannot be used.',
  remedy: 'Check that it runs, and that its connection or pool is not closed.',
}

/**
 * Error of a check before the start, for any failure of a driver: `no_answer` if the next call may succeed. Of the
 * connection it says the address and port, never the user, the password or the database.
 */
export function unusable(cause: unknown): SallyportError {
  const error = cause instanceof Conflict ? cause.cause : cause
  const code = memberOf(error, 'code')
  const isCode = typeof code === 'string' && /^\w{1,60}$/.test(code)
  const fault = faultOf(cause) ?? (isCode ? unnamed('config_invalid', code, placeOf(error)) : UNKNOWN)
  return new SallyportError(fault.code, `${fault.what} ${fault.remedy}`)
}

/** Message of Kysely. */
const TRANSACTION_ENDED = /^Transaction is already (?:committed|rolled back)$/

/** Error of a call of the store, with the driver's error as its cause; `undefined`: the failure is not known, so it is thrown unchanged. */
export function explained(cause: unknown, prefix: string): SallyportError | undefined {
  if (isNoSuchTable(cause) || isNoSuchFunction(cause)) {
    const problem = `The database is not migrated for this version of the store, whose prefix is "${prefix}".`
    return notReady(problem, REMEDY, { cause })
  }
  if (TRANSACTION_ENDED.test(String(memberOf(cause, 'message')))) {
    const remedy = 'Is an await missing before dispatch()?'
    return notReady('The transaction ended before the call of its store.', remedy, { cause })
  }
  const fault = faultOf(cause)
  return fault && new SallyportError(fault.code, `${fault.what} ${fault.remedy}`, [], { cause })
}

function memberOf(cause: unknown, name: string): unknown {
  return typeof cause === 'object' && cause !== null ? Reflect.get(cause, name) : undefined
}
