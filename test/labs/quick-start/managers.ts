import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fetchPackage } from '../runtimes/registry.ts'

/** A package manager that the README names. */
export interface Manager {
  /** `Yarn 4, Plug'n'Play`. */
  readonly name: string
  /** Its row in the README's table. */
  readonly row: 'npm' | 'pnpm' | 'Yarn'
  /** Its package in the registry; absent if it comes with Node. */
  readonly package?: readonly [name: string, version: string, program: string]
  /** There is no `node_modules/.bin`: `npx` finds no program. */
  readonly hasNoPrograms?: true
  readonly env?: Readonly<Record<string, string>>
}

const YARN_4 = ['@yarnpkg/cli-dist', '4.18.1', 'bin/yarn.js'] as const

export const MANAGERS: readonly Manager[] = [
  { name: 'npm', row: 'npm' },
  { name: 'pnpm', row: 'pnpm', package: ['pnpm', '10.34.9', 'bin/pnpm.cjs'] },
  { name: 'Yarn 1', row: 'Yarn', package: ['yarn', '1.22.22', 'bin/yarn.js'] },
  { name: 'Yarn 4', row: 'Yarn', package: YARN_4, env: { YARN_NODE_LINKER: 'node-modules' } },
  { name: "Yarn 4, Plug'n'Play", row: 'Yarn', package: YARN_4, env: { YARN_NODE_LINKER: 'pnp' }, hasNoPrograms: true },
]

/** Variables by name; `undefined` unsets one. */
export type Environment = Readonly<Record<string, string | undefined>>

/** An environment with the manager on the path, the given registry, and caches in our folder. */
export async function environmentOf(
  { package: from, row, env }: Manager,
  folder: string,
  registry: string,
): Promise<Environment> {
  const path = from ? `${await shim(folder, row, from)}:${process.env.PATH}` : process.env.PATH
  return {
    ...withoutOurs(process.env),
    ...env,
    PATH: path,
    npm_config_registry: registry,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_store_dir: join(folder, 'pnpm-store'),
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_REGISTRY: registry,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_CACHE_FOLDER: join(folder, `cache-${row}`),
    YARN_GLOBAL_FOLDER: join(folder, 'yarn-global'),
    YARN_ENABLE_TELEMETRY: '0',
    // CI environments turn this on: an install that may not write a lock file.
    YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    CI: undefined,
  }
}

/** Removes variables that `npm run` and `tsx` set for this package. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:npm_|tsx_|node_options$)/i.test(name)))
}

/** Writes a program with the manager's name into a folder, and gives the folder. */
async function shim(
  folder: string,
  row: Manager['row'],
  [name, version, program]: NonNullable<Manager['package']>,
): Promise<string> {
  const installed = await fetchPackage(join(folder, 'managers'), name, version)
  const file = join(folder, 'path', `${name.replaceAll('/', '-')}-${version}`, row.toLowerCase())
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `#!/bin/sh\nexec "${process.execPath}" "${join(installed, program)}" "$@"\n`)
  await chmod(file, 0o755)
  return dirname(file)
}
