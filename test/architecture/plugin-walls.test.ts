import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { parse } from './source.ts'

const FOLDERS = readdirSync(new URL('src/plugins/', ROOT), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
)

/** May import every plugin: generated lists, and what is deleted with any plugin. */
const OF_ALL = ['test/plugins/list.ts', 'test/plugins/options.ts', 'test/plugins/together/']

const OF_PLUGIN = /^(?:src|test)\/plugins\/([^/]+)\//
const ENTRY = /^import (?!\* as )[^;\n]* from 'sallyport\/plugins'/m

const files = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
const paths = files.filter((file) => /\.tsx?$/.test(file) && !/(?:^|\/)\./.test(file)).map((file) => `test/${file}`)

/** What a test file imports of plugins that it must pass without. */
function foreignImports(path: string, text: string): readonly string[] {
  if (OF_ALL.some((own) => path.startsWith(own))) return []
  const own = OF_PLUGIN.exec(path)?.[1]
  const foreign = parse(path, text).imports.filter(({ to }) => {
    const plugin = OF_PLUGIN.exec(to)?.[1]
    const isPlugin = FOLDERS.some(({ name }) => name === plugin)
    return (isPlugin && plugin !== own) || (to === 'src/plugins/index.ts' && own === undefined)
  })
  const named = own === undefined && ENTRY.test(text) ? ['sallyport/plugins'] : []
  return [...foreign.map(({ to }) => to), ...named].map((to) => `${path} imports ${to}`)
}

// `npm run without` runs all tests without a plugin; this finds what would not even compile.
it('No test imports a plugin, except in the folder of that plugin', () => {
  expect(paths.flatMap((path) => foreignImports(path, readFileSync(new URL(path, ROOT), 'utf8')))).toEqual([])
})

it.each([
  ['test/core/a.test.ts', "import { alerts } from '../../src/plugins/alerts/alerts.ts'"],
  ['test/core/a.test.ts', "import type { AlertsApi } from '../../src/plugins/index.ts'"],
  ['test/core/a.test.ts', "import { publishing } from '../plugins/alerts/publishing.ts'"],
  ['test/plugins/consent/a.test.ts', "import { alerts } from '../../../src/plugins/alerts/alerts.ts'"],
  ['test/labs/a.ts', "import { alerts } from 'sallyport/plugins'"],
])('In %s it finds: %s', (path, text) => {
  expect(foreignImports(path, text)).toHaveLength(1)
})
