import { expect, test } from 'vitest'
import { columnOf } from '../../../src/storage/engine/columns.ts'

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
