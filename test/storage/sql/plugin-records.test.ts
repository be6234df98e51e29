import { describe, expect, it } from 'vitest'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { sqlStatements } from '../../../src/storage/sql/index.ts'
import type { Table } from '../../../src/storage/sql/tables/tables.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'

/** The longest key of InnoDB in bytes, and the longest character of `utf8mb4`. */
const MAX_KEY_BYTES = 3_072
const CHARACTER_BYTES = 4
const INTEGER_BYTES = 8

const KINDS = ['suppressions', 'preferences', 'feedback', 'token_uses', 'statistics', 'heartbeats']

describe('plugin records', () => {
  it.each(Object.keys(DIALECTS) as DialectName[])('No statement of a migration on %s names a kind', (dialect) => {
    const texts = sqlStatements({ dialect }).flatMap(({ statements }) => statements)
    const named = KINDS.filter((kind) => texts.some((text) => text.includes(kind)))
    expect(named).toEqual([])
  })

  it('No index is longer than a key of InnoDB', () => {
    const keys = Object.entries<Table>(TABLES).flatMap(([name, { columns, primaryKey, indexes }]) =>
      [primaryKey, ...indexes.map((index) => index.columns)].map((key) => {
        const own = key.map((column) => columns[column])
        const sizes = own.map((column) => (column?.length ? column.length * CHARACTER_BYTES : INTEGER_BYTES))
        return { key: `${name} ${key}`, bytes: sizes.reduce((sum, size) => sum + size, 0) }
      }),
    )
    expect(keys.filter(({ bytes }) => bytes > MAX_KEY_BYTES)).toEqual([])
  })
})
