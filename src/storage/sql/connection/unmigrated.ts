import { isNoSuchFunction, isNoSuchTable, notReady, REMEDY } from './readiness-errors.ts'

/**
 * The same store; a call that fails because a table, a column or a function is not there throws `config_invalid` with what to do, and
 * what the driver threw as its cause.
 */
export function explainingUnmigrated<Store extends object>(store: Store, prefix: string): Store {
  const explained = Object.entries(store).map(([name, call]: [string, (...args: unknown[]) => Promise<unknown>]) => {
    const explainedCall = async (...args: unknown[]): Promise<unknown> => {
      try {
        return await call(...args)
      } catch (cause) {
        throw explanationOf(cause, prefix)
      }
    }
    return [name, explainedCall] as const
  })
  return Object.fromEntries(explained) as Store
}

function explanationOf(cause: unknown, prefix: string): unknown {
  if (!isNoSuchTable(cause) && !isNoSuchFunction(cause)) return cause
  const what = `The database is not migrated for this version of the store, whose prefix is "${prefix}".`
  return notReady(what, REMEDY, { cause })
}
