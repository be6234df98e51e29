import { type ExecFileException, execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ROOT, readJson } from '../support/entries.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)

/** The package as somebody else has it: built, packed, and installed in a project of its own. */
export interface BuiltPackage {
  /** The files in the tarball, `dist/index.js` and its like. */
  readonly files: readonly string[]
  /** The installed package's folder. */
  readonly installed: string
  /** Runs a program of the project, and gives what it printed. What it prints as a warning, or its failure, is thrown. */
  node(...args: readonly string[]): Promise<string>
  remove(): Promise<void>
}

/** Builds, packs and installs, all in a temporary folder. The project gets the files of `consumer/`. */
export async function buildPackage(): Promise<BuiltPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-package-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const { filename, files } = await pack(folder, join(folder, 'built'))
    const project = join(folder, 'project')
    await install(project, join(folder, filename))
    return {
      files: files.map(({ path }) => path),
      installed: join(project, 'node_modules/sallyport'),
      async node(...args) {
        const { stdout, stderr } = await run(process.execPath, args, { cwd: project, timeout: 60_000 }).catch(explain)
        if (stderr !== '') throw new Error(stderr)
        return stdout
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The peers that entries import themselves; the others are handed in. */
const PEERS = ['@opentelemetry/api', 'bullmq', 'kysely']

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

async function pack(folder: string, built: string): Promise<Packed> {
  const root = fileURLToPath(ROOT)
  await execute(root, process.execPath, bin('tsup'), '--silent', '--out-dir', join(built, 'dist'))
  for (const file of ['package.json', 'README.md', 'LICENSE']) await cp(join(root, file), join(built, file))
  const [packed] = JSON.parse(
    await execute(built, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  )
  return packed
}

async function install(project: string, tarball: string): Promise<void> {
  await cp(new URL('consumer/', import.meta.url), project, { recursive: true })
  const { devDependencies, overrides } = readJson('package.json')
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }))
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--prefix', project]
  const peers = PEERS.map((name) => `${name}@${devDependencies[name]}`)
  await execute(project, 'npm', 'install', ...quietly, tarball, ...peers)
}

/** The file behind a program that a package brings. */
export function bin(name: string, program: string = name): string {
  const manifest = require.resolve(`${name}/package.json`)
  return join(dirname(manifest), require(manifest).bin[program])
}

async function execute(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, args, { cwd }).catch(explain)
  return stdout
}

/** What a program that failed printed says more than that it failed. */
function explain(failure: ExecFileException): never {
  throw new Error([failure.message, failure.stdout, failure.stderr].join('\n'))
}
