import { SallyportError } from '../../../errors.ts'
import { Conflict } from './changes.ts'

const NO_FUNCTION: readonly unknown[] = ['42883', 'ER_SP_DOES_NOT_EXIST', 'ER_FUNC_INEXISTENT_NAME_COLLISION']
const NO_TABLE: readonly unknown[] = ['42P01', '42703', 'ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR']

export function isNoSuchFunction(cause: unknown): boolean {
  return NO_FUNCTION.includes(memberOf(cause, 'code')) || /no such function/.test(String(memberOf(cause, 'message')))
}

export function isNoSuchTable(cause: unknown): boolean {
  return NO_TABLE.includes(memberOf(cause, 'code')) || /no such (table|column)/.test(String(memberOf(cause, 'message')))
}

export function notReady(what: string, remedy: string, options?: { readonly cause?: unknown }): SallyportError {
  return new SallyportError('config_invalid', `${what} ${remedy}`, [], options)
}

export const REMEDY = 'Run `await store.migrate()`, `npx sallyport migrate`, or the statements of `sqlStatements()`.'

/** A driver's failure by its code only: its message may contain a password or a host name. */
export function unusable(cause: unknown): SallyportError {
  const code = memberOf(cause instanceof Conflict ? cause.cause : cause, 'code')
  if (code === 'database_timeout') {
    return notReady('The database did not answer in time.', 'Check that it runs, and whether its pool is used up.')
  }
  if (code === '42501' || code === 'ER_TABLEACCESS_DENIED_ERROR') {
    return notReady(
      'The database does not let this user do what the store does.',
      'Grant it SELECT, INSERT, UPDATE and DELETE on the tables, and USAGE on their schema.',
    )
  }
  const isCode = typeof code === 'string' && /^\w{1,60}$/.test(code)
  return isCode
    ? notReady(`The database cannot be used: its driver says ${code}.`, 'Check that it runs, and how it is reached.')
    : notReady('The database cannot be used.', 'Check that it runs, and that its connection or pool is not closed.')
}

function memberOf(cause: unknown, name: string): unknown {
  return typeof cause === 'object' && cause !== null ? Reflect.get(cause, name) : undefined
}
