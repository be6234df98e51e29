import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { MAKES_CODE } from '../support/makes-code.ts'

const root = new URL('../../', import.meta.url)

test('The runtime of the tests refuses to make code of text', () => {
  expect(() => Reflect.construct(Function, ['return 1'])).toThrow(EvalError)
})

test.each(Object.entries(MAKES_CODE))('The exempt test files %s exist: %s', (files) => {
  expect(existsSync(new URL(files.replace('*.test.ts', ''), root))).toBe(true)
})

test.each([
  ['liquid', 'liquidjs'],
  ['json-logic', 'json-logic-engine'],
])('The engine %s imports only its own library', async (entry, library) => {
  expect([...(await imported(`${entry}.ts`))]).toEqual([library])
})

/** The packages that a file of `src/engines` and its own imports there load at run time. */
async function imported(file: string, seen: Set<string> = new Set()): Promise<Set<string>> {
  const packages = new Set<string>()
  if (seen.has(file)) return packages
  seen.add(file)
  const source = await readFile(new URL(`src/engines/${file}`, root), 'utf8')
  for (const [, specifier = ''] of source.matchAll(/^(?:import (?!type )|\} )[^;]*?from '([^']+)'$/gm)) {
    if (specifier.startsWith('./')) for (const name of await imported(specifier.slice(2), seen)) packages.add(name)
    else if (!specifier.startsWith('../')) packages.add(specifier)
  }
  return packages
}
