import { expect, test } from 'vitest'
import { columnOf } from '../../../src/storage/engine/columns.ts'
import { KINDS } from '../../../src/storage/engine/declarations.ts'
import { declarationOf, type Kind } from '../../../src/storage/engine/kinds.ts'
import type { Table } from '../../../src/storage/sql/schema/columns.ts'
import { TABLES } from '../../../src/storage/sql/schema/tables.ts'

const JSON_KINDS = ['json', 'list']

test('Each kind of records has the columns, the key and the indexes of its table', () => {
  expect(Object.keys(KINDS).sort()).toEqual(Object.keys(TABLES).sort())
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const { key, columns, indexes = {} } = declarationOf(kind)
    const table: Table = TABLES[kind]
    expect(key, kind).toEqual(table.primaryKey)
    const declared = Object.entries(columns).map(([name, words]) => {
      const { kind, length, ...flags } = columnOf(words)
      return { name, kind: JSON_KINDS.includes(kind) ? 'text' : kind, length, ...flags }
    })
    const stored = Object.entries(table.columns).map(([name, column]) => {
      const { kind, length, optional = false, fixed = false, kept = false, personal = false, since = 1 } = column
      return { name, kind: kind === 'json' ? 'text' : kind, length, optional, fixed, kept, personal, since }
    })
    expect(declared, kind).toEqual(stored)
    expect(Object.entries(indexes), kind).toEqual(table.indexes.map(({ name, columns }) => [name, columns]))
    for (const { columns, present } of table.indexes)
      expect(
        columns.find((name) => table.columns[name]?.optional),
        kind,
      ).toBe(present)
  }
})

test('The words of a column say what it holds', () => {
  expect(columnOf('id')).toMatchObject({ kind: 'key', length: 200, fixed: true, optional: false })
  expect(columnOf('key 32 optional personal')).toMatchObject({
    kind: 'key',
    length: 32,
    optional: true,
    personal: true,
  })
  expect(columnOf('flag')).toMatchObject({ kind: 'flag', optional: true })
  expect(columnOf('text optional since 2')).toMatchObject({ kind: 'text', optional: true, since: 2 })
})
