import type { Dialect } from '../connection/dialects.ts'
import type { TableName } from './records.ts'

/** The names of a store's tables, and of their indexes. */
export interface NameTable {
  (table: TableName): string
  /** @param index Its short name. Default: that of the primary key. */
  index(table: TableName, index?: string): string
}

export function tableNames(dialect: Dialect, prefix: string): NameTable {
  return Object.assign((table: TableName) => dialect.quote(`${prefix}${table}`), {
    index: (table: TableName, index?: string) =>
      dialect.quote(index === undefined ? dialect.primaryKeyOf(`${prefix}${table}`) : `${prefix}${table}_${index}`),
  })
}
