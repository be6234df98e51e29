import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { bin, execute } from './tarball.ts'

const root = fileURLToPath(ROOT)
const ASKED = ['--silent', '--no-dts', '--sourcemap', '--out-dir']
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-tree-shaking-'))
  await execute({ cwd: root }, process.execPath, bin('tsup'), ...ASKED, join(folder, 'dist'))
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}, HANG_MS)

afterAll(() => rm(folder, { recursive: true, force: true }))

const OTHERS = [
  'src/core/dispatch/catalog/',
  'src/core/delivery/',
  'src/core/hooks.ts',
  'src/core/runs/events/',
  'src/http/',
  'src/compose/create-sallyport.ts',
]

describe('a bundle of one name of the root', () => {
  it('A bundle of handleDispatch contains the hooks, but no runs, catalog, worker or routes', async () => {
    const modules = await modulesBundledFor('handleDispatch')
    expect(modules).toContain('src/core/dispatch/handle-dispatch.ts')
    expect(within(modules, 'src/core/runs/', ...OTHERS)).toEqual(['src/core/hooks.ts'])
  })

  it('A bundle of handleSessionRun contains no dispatches, catalog, worker or routes', async () => {
    const modules = await modulesBundledFor('handleSessionRun')
    expect(modules).toContain('src/core/runs/handle-session-run.ts')
    expect(within(modules, 'src/core/dispatch/', ...OTHERS)).toEqual([])
  })

  it('A bundle of isSallyportError contains only its own file', async () => {
    expect(await modulesBundledFor('isSallyportError')).toEqual(['src/errors.ts'])
  })
})

/** The source files in a bundle of one name of the built root. */
async function modulesBundledFor(name: string): Promise<readonly string[]> {
  const entry = join(folder, `${name}.ts`)
  const outDir = join(folder, name)
  await writeFile(entry, `export { ${name} } from './dist/index.js'\n`)
  await build({
    entry: [entry],
    outDir,
    noExternal: [/./],
    sourcemap: true,
    format: 'esm',
    config: false,
    silent: true,
  })
  const code = await readFile(join(outDir, `${name}.js`), 'utf8')
  const map = new SourceMap(JSON.parse(await readFile(join(outDir, `${name}.js.map`), 'utf8')))
  const places = code.split('\n').flatMap((text, line) => Array.from(text, (_, column) => map.findEntry(line, column)))
  const sources = new Set(places.flatMap((place) => ('originalSource' in place ? place.originalSource : [])))
  return [...sources].map((source) => relative(root, resolve(outDir, source))).sort()
}

function within(modules: readonly string[], ...folders: readonly string[]): readonly string[] {
  return modules.filter((module) => folders.some((folder) => module.startsWith(folder)))
}
