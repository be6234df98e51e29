import { expect, it } from 'vitest'
import { allTestFiles, propertyFiles, REST_FILES, testFiles, usesServices } from '../support/parts.ts'

it('Files that npm test leaves out exist', () => {
  const files = allTestFiles()
  expect([...REST_FILES].filter((file) => !files.includes(file))).toEqual([])
})

it('Files with properties or databases are recognised by their imports, and run in the second part too', () => {
  const rest = testFiles('rest')
  expect(propertyFiles()).toContain('test/core/runs/merge/merge-laws.test.ts')
  expect(usesServices('test/storage/sql/sql-contract.test.ts')).toBe(true)
  expect(usesServices('test/core/delivery/worker.test.ts')).toBe(false)
  for (const file of ['test/core/runs/merge/merge-laws.test.ts', 'test/storage/sql/sql-contract.test.ts'])
    expect(rest).toContain(file)
})
