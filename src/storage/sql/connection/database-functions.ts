import type { Change } from '../../engine/records.ts'
import type { Dialect } from '../dialects/dialects.ts'
import { MIGRATION_NAMES } from '../tables/migration-names.ts'

export type FunctionName = Change['do'] | 'claim' | 'snapshots' | 'records' | 'scan'

/** The name contains the number of the newest migration: during a deployment two versions share a database, each with its functions. */
export function functionName(name: FunctionName, dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}${name}_${MIGRATION_NAMES.length}`)
}

/** A statement as the function `scan` runs it: its parameters are members of a JSON array. */
export function scanStatement(text: string, parameters: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number: string) => {
    const at = Number(number) - 1
    return `($1->>${at})${typeof parameters[at] === 'number' ? '::bigint' : ''}`
  })
}
