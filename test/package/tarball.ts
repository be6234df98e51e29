import { type ExecFileException, type ExecFileOptions, execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ROOT, readJson } from '../support/entries.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)

/** The package, ready for publishing. */
export interface Tarball {
  readonly path: string
  /** The files in it, `dist/index.js` and its like. */
  readonly files: readonly string[]
}

/** Builds and packs the package, within that folder. */
export async function packTarball(folder: string): Promise<Tarball> {
  const root = fileURLToPath(ROOT)
  const built = join(folder, 'built')
  await execute({ cwd: root }, process.execPath, bin('tsup'), '--silent', '--out-dir', join(built, 'dist'))
  for (const file of ['package.json', 'README.md', 'LICENSE']) await cp(join(root, file), join(built, file))
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [packed]: [Packed] = JSON.parse(await execute({ cwd: built }, 'npm', ...packing))
  return { path: join(folder, packed.filename), files: packed.files.map(({ path }) => path) }
}

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** The peers that entries import, and kysely, which hosts pass in. */
const PEERS = ['@opentelemetry/api', 'bullmq', 'json-logic-engine', 'kysely', 'liquidjs']

/** Installs it in a project of its own, with its peers and more of our development dependencies, in our versions. */
export function installTarball(
  tarball: Pick<Tarball, 'path'>,
  project: string,
  more: readonly string[] = [],
): Promise<void> {
  return installBeside(tarball, project, [...PEERS, ...more])
}

/** Installs it in a project of its own, without any optional peer. */
export function installWithoutPeers(tarball: Pick<Tarball, 'path'>, project: string): Promise<void> {
  return installBeside(tarball, project, [])
}

async function installBeside(
  { path }: Pick<Tarball, 'path'>,
  project: string,
  names: readonly string[],
): Promise<void> {
  const { devDependencies, overrides } = readJson('package.json')
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
  await npmInstall(project, path, ...names.map((name) => `${name}@${devDependencies[name]}`))
}

/** Has npm install something in a folder: names with versions, files, or options of its own. */
export async function npmInstall(folder: string, ...what: readonly string[]): Promise<void> {
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', folder]
  await execute({ cwd: folder }, 'npm', 'install', ...quietly, ...what)
}

/** The file behind a program that a package brings. */
export function bin(name: string, program: string = name): string {
  const manifest = require.resolve(`${name}/package.json`)
  return join(dirname(manifest), require(manifest).bin[program])
}

/** Runs a program, and gives what it printed. What it printed before it failed is thrown. */
export async function execute(options: ExecFileOptions, program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { ...options, encoding: 'utf8' }).catch(explain)
  return stdout
}

/** What a program that failed printed says more than that it failed. */
export function explain(failure: ExecFileException): never {
  throw new Error([failure.message, failure.stdout, failure.stderr].join('\n'))
}
