/**
 * Names of all migrations, oldest first. The number of a migration is its position, from 1: a table, column or index that declares
 * `since: 2` comes with the second. A released migration never changes. The name of a migration that older versions of this store cannot
 * work with ends with `_breaking`.
 */
export const MIGRATION_NAMES: readonly string[] = ['0001_tables', '0002_plugins']

/** Whether a migration that this version does not know only added tables, columns and indexes, which this version ignores. */
export function isAdditive(name: string): boolean {
  return !name.endsWith('_breaking')
}
