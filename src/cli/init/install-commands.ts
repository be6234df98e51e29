import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Project } from './project.ts'
import type { StoreName } from './storage-file.ts'

interface PackageManager {
  readonly add: string
  readonly addDev: string
}

const NPM: PackageManager = { add: 'npm install', addDev: 'npm install --save-dev' }
const BUN: PackageManager = { add: 'bun add', addDev: 'bun add --dev' }

const LOCK_FILES: Readonly<Record<string, PackageManager>> = {
  'package-lock.json': NPM,
  'npm-shrinkwrap.json': NPM,
  'pnpm-lock.yaml': { add: 'pnpm add', addDev: 'pnpm add --save-dev' },
  'yarn.lock': { add: 'yarn add', addDev: 'yarn add --dev' },
  'bun.lock': BUN,
  'bun.lockb': BUN,
}

/** Packages that the code of a framework needs, and those of its types. */
const OF_FRAMEWORK: Readonly<Record<Project['framework'], readonly string[]>> = {
  next: ['next', 'react', 'react-dom'],
  fastify: ['fastify'],
  hono: ['hono', '@hono/node-server'],
  koa: ['koa'],
  express: ['express'],
  node: [],
}

const OF_STORE: Readonly<Record<StoreName, readonly string[]>> = {
  memory: [],
  sqlite: ['kysely', 'libsql'],
  postgresql: ['kysely', 'pg'],
}

/** Packages whose types are packages of their own. */
const UNTYPED = ['express', 'koa', 'pg']

/** Commands that install the packages which the new files import and `package.json` has not. */
export function installCommands(root: string, project: Project, store: StoreName): readonly string[] {
  const { packages, framework, isTypeScript } = project
  const needed = ['sallyport', 'valibot', ...OF_FRAMEWORK[framework], ...OF_STORE[store]]
  const types = ['node', ...needed.filter((name) => UNTYPED.includes(name))].map((name) => `@types/${name}`)
  const missing = (names: readonly string[]): readonly string[] => names.filter((name) => !packages.has(name))
  const { add, addDev } = managerOf(root)
  const commands = [
    [add, ...missing(needed)],
    [addDev, ...(isTypeScript ? missing(types) : [])],
  ]
  return commands.filter(({ length }) => length > 1).map((words) => words.join(' '))
}

/** The package manager of the nearest lock file: in a workspace, it lies in a folder above. */
function managerOf(folder: string): PackageManager {
  const name = Object.keys(LOCK_FILES).find((each) => existsSync(join(folder, each)))
  const above = dirname(folder)
  return (name === undefined ? undefined : LOCK_FILES[name]) ?? (above === folder ? NPM : managerOf(above))
}
