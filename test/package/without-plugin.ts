import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { codeFile, pageFile, tutorials } from '../docs/tutorials.ts'
import { ROOT } from '../support/entries.ts'

/** A copy of the package without one plugin. */
export interface Copy {
  readonly folder: string
  /** Routes of the plugin, such as `GET /api/outbound/stats`. */
  readonly routes: readonly string[]
  remove(): Promise<void>
}

/** Tests of all plugins in one host: each needs every plugin. */
const TOGETHER = 'test/plugins/together'

const root = fileURLToPath(ROOT)
const run = promisify(execFile)

/** What must hold without the plugin. Each prints what fails. */
export const STEPS: Readonly<Record<string, (copy: Copy) => Promise<boolean>>> = {
  compile: async ({ folder }) => (await compiles(folder, '.')) && (await compiles(folder, 'src/console/app')),
  routes: async ({ folder, routes }) => {
    const found = await answersOf(folder, routes)
    const there = routes.filter((_, at) => found[at] !== 404)
    for (const route of there) console.error(`${route} is not 404`)
    return routes.length > 0 && there.length === 0
  },
  tests: ({ folder }) =>
    passes(folder, 'node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--project', 'quick*'),
}

/** Copies the tracked files to a temporary folder, and removes what belongs to the plugin. */
export async function removePlugin(name: string): Promise<Copy> {
  const plugins = (await readdir(new URL('src/plugins/', ROOT), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )
  if (!plugins.some((entry) => entry.name === name))
    throw new Error(`give the folder of a plugin: ${plugins.map((entry) => entry.name).join(', ')}`)
  const folder = await mkdtemp(join(tmpdir(), `sallyport-without-${name}-`))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await copyTo(folder)
    const before = await routesOf(folder)
    const answers = await answersOf(folder, before)
    const logged = await loggedIn(join(folder, `src/plugins/${name}`))
    for (const own of [`src/plugins/${name}`, `test/plugins/${name}`, TOGETHER])
      await rm(join(folder, own), { recursive: true, force: true })
    if (await isUsedIn(join(folder, DEMO), name)) {
      await writeFile(join(folder, DEMO), 'export {}\n')
      await writeFile(join(folder, 'test/demo.test.ts'), "import { it } from 'vitest'\n\nit.todo('There is no demo')\n")
    }
    for (const file of await readdir(join(folder, SOLUTIONS)))
      if (await isUsedIn(join(folder, SOLUTIONS, file), name)) await rm(join(folder, SOLUTIONS, file))
    for (const tutorial of tutorials())
      if (await isUsedIn(join(folder, codeFile(tutorial)), name)) await removeCode(join(folder, pageFile(tutorial)))
    // CONTRIBUTING.md names it.
    await mkdir(join(folder, TOGETHER))
    await tsx(folder, 'test/package/write-entries.ts')
    await tsx(folder, 'test/docs/write-derived.ts')
    const kept = await routesOf(folder)
    const routes = before.filter((route) => !kept.includes(route))
    await removeNames(join(folder, 'docs/security.md'), `test/plugins/${name}/[^\`]+`, 'test/')
    await removeNames(join(folder, 'docs/approvals.md'), `${TOGETHER}/[^\`]+`, 'test/')
    await removeNames(join(folder, '.github/CONTRIBUTING.md'), `src/plugins/${name}/[^\`]+`, 'src/')
    const others = await loggedIn(join(folder, 'src'))
    const gone = logged.filter((event) => !others.includes(event))
    if (gone.length > 0)
      await removeNames(join(folder, 'docs/monitoring.md'), gone.join('|').replaceAll('.', '\\.'), '')
    // An open endpoint may answer 404 to an unknown parameter.
    return { folder, routes: routes.filter((route) => answers[before.indexOf(route)] !== 404), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The demo may show any plugin: without one of them there is no demo. */
const DEMO = 'docs/examples/demo.ts'

/** Each uses what its task needs, also a plugin. */
const SOLUTIONS = 'test/labs/agent-tasks/solutions'

/** Removes the code of a tutorial, from which `write-derived.ts` makes its file. */
async function removeCode(page: string): Promise<void> {
  await writeFile(page, (await readFile(page, 'utf8')).replaceAll(/^```ts\n.*?^```$/gms, ''))
}

async function isUsedIn(file: string, plugin: string): Promise<boolean> {
  const created = plugin.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  return new RegExp(`import [^;]*?\\b${created}\\b[^;]*? from 'sallyport/plugins'`).test(await readFile(file, 'utf8'))
}

async function copyTo(folder: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 1e8 })
  for (const file of stdout.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await cp(join(root, file), join(folder, file))
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Removes names in code from the cells of a page, and rows with a cell that has no other name with this beginning left. */
async function removeNames(page: string, names: string, beginning: string): Promise<void> {
  const own = new RegExp(`\`(?:${names})\`(?:, )?`, 'g')
  const rows = (await readFile(page, 'utf8')).split('\n').flatMap((line) => {
    if (!line.startsWith('| ')) return [line]
    const cells = line.split('|')
    const rest = cells.map((cell) => cell.replace(own, '').replace(/, +$/, ' '))
    const isGone = rest.some((cell, at) => cell !== cells[at] && !cell.includes(`\`${beginning}`))
    return isGone ? [] : [rest.join('|')]
  })
  await writeFile(page, rows.join('\n'))
}

/** Log events whose names stand in a folder. */
async function loggedIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true })
  const texts = await Promise.all(
    files.filter((file) => file.endsWith('.ts')).map((file) => readFile(join(folder, file), 'utf8')),
  )
  return texts.flatMap((text) => text.match(/(?<=')[a-z_]+\.[a-z_]+(?=')/g) ?? [])
}

/** Routes of a host with every plugin of the folder. */
async function routesOf(folder: string): Promise<readonly string[]> {
  return JSON.parse(await tsx(folder, 'test/package/plugin-routes.ts'))
}

async function answersOf(folder: string, routes: readonly string[]): Promise<readonly number[]> {
  return JSON.parse(await tsx(folder, 'test/package/plugin-routes.ts', ...routes))
}

async function tsx(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['node_modules/tsx/dist/cli.mjs', ...args], { cwd: folder })
  return stdout
}

function compiles(folder: string, project: string): Promise<boolean> {
  return passes(folder, 'node_modules/typescript/bin/tsc', '-p', project)
}

function passes(folder: string, ...args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    spawn(process.execPath, args, { cwd: folder, stdio: 'inherit' }).once('exit', (code) => resolve(code === 0))
  })
}
