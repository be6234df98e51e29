import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { parse } from './source.ts'

const PROPERTIES = 'test/support/properties.ts'

const files = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
// Folders with a dot hold what other tests write.
const paths = files
  .filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !/(?:^|[\\/])\./.test(file))
  .map((file) => `test/${file.replaceAll('\\', '/')}`)
const textOf = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

it('Only test/support/properties.ts imports fast-check, so all properties share its seed and number of examples', () => {
  expect(paths.filter((path) => importsFastCheck(path, textOf(path)))).toEqual([PROPERTIES])
})

it('A property that tries a part of its examples in npm test is in a test file, which npm run test:rest runs again', () => {
  const helpers = paths.filter((path) => !path.endsWith('.test.ts') && path !== PROPERTIES)
  expect(helpers.filter((path) => /numRuns: runs\(/.test(textOf(path)))).toEqual([])
})

it.each([
  "import fc from 'fast-check'",
  "import * as fc from 'fast-check'",
  "import type { Arbitrary } from 'fast-check'",
  "export * from 'fast-check'",
  "const fc = await import('fast-check')",
])('The check finds: %s', (text) => {
  expect(importsFastCheck('test/a.test.ts', text)).toBe(true)
})

/** Only files that name the package are parsed. */
function importsFastCheck(path: string, text: string): boolean {
  return text.includes('fast-check') && parse(path, text).imports.some(({ to }) => to === 'fast-check')
}
