import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { parse, readSources, type Source } from './source.ts'

const FOLDERS = readdirSync(new URL('src/plugins/', ROOT), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
)

/** May import every plugin: generated lists, and what is deleted with its plugin or with any. This file has examples. */
const OF_ALL = [
  'test/plugins/list.ts',
  'test/plugins/options.ts',
  'test/plugins/together/',
  'test/labs/agent-tasks/solutions/',
  'test/architecture/plugin-walls.test.ts',
]

const OF_PLUGIN = /^(?:src|test)\/plugins\/([^/]+)\//
/** The path of an import of a file, which may have several lines. */
const PATH = /^(?:import|export|\})[^'\n]* from '(\.[^'\n]+)'|\bimport\('(\.[^'\n]+)'\)/gm
const ENTRY = /^import (?!\* as )[^;\n]* from 'sallyport\/plugins'/m

const files = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
const paths = files.filter((file) => /\.tsx?$/.test(file) && !/(?:^|\/)\./.test(file)).map((file) => `test/${file}`)

/** What a test file imports of plugins that it must pass without. */
function foreignImports(path: string, text: string): readonly string[] {
  if (OF_ALL.some((own) => path.startsWith(own))) return []
  const own = OF_PLUGIN.exec(path)?.[1]
  const imported = [...text.matchAll(PATH)].map(([, to, loaded]) => posix.join(posix.dirname(path), to ?? loaded ?? ''))
  const foreign = imported.filter((to) => {
    const plugin = OF_PLUGIN.exec(to)?.[1]
    const isPlugin = FOLDERS.some(({ name }) => name === plugin)
    return (isPlugin && plugin !== own) || (to === 'src/plugins/index.ts' && own === undefined)
  })
  const named = own === undefined && ENTRY.test(text) ? ['sallyport/plugins'] : []
  return [...foreign, ...named].map((to) => `${path} imports ${to}`)
}

// `npm run without` runs all tests without a plugin; this finds what would not even compile.
it('No test imports a plugin, except in the folder of that plugin', () => {
  expect(paths.flatMap((path) => foreignImports(path, readFileSync(new URL(path, ROOT), 'utf8')))).toEqual([])
})

// Some plugin, so that this passes without any one.
const ONE = FOLDERS[0]?.name

it.each([
  ['test/core/a.test.ts', `import { one } from '../../src/plugins/${ONE}/one.ts'`],
  ['test/core/a.test.ts', "import type { OneApi } from '../../src/plugins/index.ts'"],
  ['test/core/a.test.ts', `import { one } from '../plugins/${ONE}/one.ts'`],
  ['test/plugins/other/a.test.ts', `import { one } from '../../../src/plugins/${ONE}/one.ts'`],
  ['test/core/a.test.ts', `const { one } = await import('../../src/plugins/${ONE}/one.ts')`],
  ['test/core/a.test.ts', `import {\n  one,\n} from '../../src/plugins/${ONE}/one.ts'`],
  ['test/labs/a.ts', "import { one } from 'sallyport/plugins'"],
])('In %s it finds: %s', (path, text) => {
  expect(foreignImports(path, text)).toHaveLength(1)
})

/** What only the console and the command line import of a plugin, each by one generated list. */
const LISTED = /^src\/plugins\/[^/]+\/(?:console\/|commands\.ts)/
const LISTS = ['src/console/app/plugin-screens.ts', 'src/cli/plugin-commands.ts']

function unlistedImports({ path, imports }: Source): readonly string[] {
  const own = LISTED.exec(path)?.[0]
  const found = imports.filter(({ to }) => LISTED.test(to) && LISTED.exec(to)?.[0] !== own && !LISTS.includes(path))
  return found.map(({ to }) => `${path} imports ${to}`)
}

it('Screens and commands of a plugin are imported by a generated list alone', () => {
  expect(readSources().flatMap(unlistedImports)).toEqual([])
})

it.each([
  ['src/console/app/shell.tsx', "import { useBudgets } from '../../plugins/alerts/console/budgets.tsx'"],
  ['src/plugins/alerts/index.ts', "export { ALERTS_SCREENS } from './console/screens.tsx'"],
  ['src/plugins/consent/console/a.tsx', "import type { Series } from '../../statistics/console/series.ts'"],
  ['src/cli/commands.ts', "const { STATISTICS_COMMANDS } = await import('../plugins/statistics/commands.ts')"],
])('In %s it finds: %s', (path, text) => {
  expect(unlistedImports(parse(path, text))).toHaveLength(1)
})
