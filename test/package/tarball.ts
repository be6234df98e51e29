import { type ExecFileException, type ExecFileOptions, execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ROOT, readJson } from '../support/entries.ts'
import { PEER_ENTRIES } from './entries.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)

/** The packed package. */
export interface Tarball {
  readonly path: string
  /** The files in it, such as `dist/index.js`. */
  readonly files: readonly string[]
}

/** Builds and packs the package within `folder`, or takes the tarball in SALLYPORT_TARBALL. */
export async function packTarball(folder: string): Promise<Tarball> {
  const path = process.env.SALLYPORT_TARBALL ?? (await pack(folder))
  const packed = (await execute({}, 'tar', '-tzf', path)).trim().split('\n')
  return { path, files: packed.map((file) => file.replace('package/', '')) }
}

async function pack(folder: string): Promise<string> {
  const root = fileURLToPath(ROOT)
  const built = join(folder, 'built')
  await execute({ cwd: root }, process.execPath, bin('tsup'), '--silent', '--out-dir', join(built, 'dist'))
  for (const file of ['package.json', 'README.md', 'LICENSE']) await cp(join(root, file), join(built, file))
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename }]: [{ readonly filename: string }] = JSON.parse(await execute({ cwd: built }, 'npm', ...packing))
  return join(folder, filename)
}

/** Peers that the entries import, and kysely, which hosts pass in. */
const PEERS = [...PEER_ENTRIES.map(({ peer }) => peer), 'kysely']

/** Installs the tarball in its own project with its peers and `more` of the pinned development dependencies. */
export function installTarball(tarball: Tarball, project: string, more: readonly string[] = []): Promise<void> {
  return installBeside(tarball, project, [...PEERS, ...more])
}

/** Installs the tarball in its own project without optional peers. */
export function installWithoutPeers(tarball: Tarball, project: string): Promise<void> {
  return installBeside(tarball, project, [])
}

async function installBeside({ path }: Tarball, project: string, names: readonly string[]): Promise<void> {
  const { devDependencies, overrides } = readJson('package.json')
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
  await npmInstall(project, path, ...names.map((name) => `${name}@${devDependencies[name]}`))
}

/** Runs `npm install` in a folder. `what`: names with versions, files, or options. */
export async function npmInstall(folder: string, ...what: readonly string[]): Promise<void> {
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', folder]
  await execute({ cwd: folder }, 'npm', 'install', ...quietly, ...what)
}

/** Path of a program of a package. */
export function bin(name: string, program: string = name): string {
  const manifest = require.resolve(`${name}/package.json`)
  return join(dirname(manifest), require(manifest).bin[program])
}

/** Runs a program and returns its output. The error of a failed program contains its output. */
export async function execute(options: ExecFileOptions, program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { ...options, encoding: 'utf8' }).catch(explain)
  return stdout
}

/** Throws the failure with the output of the program. */
export function explain(failure: ExecFileException): never {
  throw new Error([failure.message, failure.stdout, failure.stderr].join('\n'))
}
