import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { parse } from './source.ts'

const PROPERTIES = 'test/support/properties.ts'

it('Only test/support/properties.ts imports fast-check, so all properties share its seed and number of examples', () => {
  const files = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
  const paths = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file)).map((file) => `test/${file.replaceAll('\\', '/')}`)
  const importing = paths.filter((path) => importsFastCheck(path, readFileSync(new URL(path, ROOT), 'utf8')))
  expect(importing).toEqual([PROPERTIES])
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
