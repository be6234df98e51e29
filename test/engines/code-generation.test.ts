import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)

async function loaded(script: string): Promise<unknown> {
  const flags = ['--disallow-code-generation-from-strings', '--import', 'tsx', '--input-type=module', '--eval', script]
  const { stdout } = await run(process.execPath, flags, { cwd: root })
  return JSON.parse(stdout)
}

test('no engine generates code from strings', async () => {
  const script = `
    import { liquid } from './src/engines/liquid.ts'
    import { jsonLogic } from './src/engines/json-logic.ts'
    const data = { name: 'Ann', items: [{ n: 1 }, { n: 2 }] }
    const template = liquid().compile('{% for i in data.items %}{{ i.n | plus: 1 }}{% endfor %} {{ data.name | upcase }}', 'html')
    const condition = jsonLogic().compile({ and: [{ some: [{ var: 'data.items' }, { '>': [{ var: 'n' }, 1] }] }, { '==': [{ var: 'data.name' }, 'Bob'] }] })
    console.log(JSON.stringify([template({ data }), condition({ data })]))`
  expect(await loaded(script)).toEqual([
    { outcome: 'rendered', text: '23 ANN' },
    { outcome: 'false', trace: [{ rule: '==', path: 'data.name', expected: 'Bob', actual: 'Ann', result: false }] },
  ])
})

test.each([
  ['liquid', 'liquidjs'],
  ['json-logic', 'json-logic-engine'],
])('%s imports its own library alone', async (entry, library) => {
  expect([...(await imported(`${entry}.ts`))]).toEqual([library])
})

/** The packages that a file of the engines, and whatever it imports beside it, loads at run time. */
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
