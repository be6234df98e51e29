import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { bin } from '../package/tarball.ts'
import { ROOT, readJson } from './entries.ts'
import { type Program, startNode } from './program.ts'

/** A project with the built package and all test dependencies installed. */
export interface RecipeProject {
  readonly folder: string
  /** Transpiles TypeScript or JavaScript and writes it as a module: `storage.js`. */
  write(file: string, code: string): Promise<void>
  /** Runs a module. Its servers listen at a free port of the loopback interface and print it: {@link portOf}. */
  start(file: string, env?: Readonly<Record<string, string>>): Program
  /** Kills running programs and removes the project. */
  remove(): Promise<void>
}

const LISTENING = 'the server listens at'

const ELSEWHERE = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('${LISTENING}', this.address().port))
  return listen.call(this, { port: 0, host: '127.0.0.1' }, args.find((arg) => typeof arg === 'function'))
}
`

/** The port at which a program of {@link RecipeProject.start} listens. */
export async function portOf(program: Program): Promise<number> {
  return Number((await program.line(LISTENING)).slice(LISTENING.length))
}

export async function recipeProject(): Promise<RecipeProject> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-recipes-'))
  const programs: Program[] = []

  async function write(file: string, code: string): Promise<void> {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    })
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), outputText)
  }

  await install(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'elsewhere.mjs'), ELSEWHERE)
  return {
    folder,
    write,
    start(file, env) {
      const program = startNode(['--import', './elsewhere.mjs', file], folder, env)
      programs.push(program)
      return program
    },
    async remove() {
      for (const program of programs) program.signal('SIGKILL')
      await Promise.all(programs.map(({ ended }) => ended))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Builds the package into a project, and links its dependencies beside it. */
async function install(folder: string): Promise<void> {
  const modules = fileURLToPath(new URL('node_modules/', ROOT))
  const own = join(folder, 'node_modules/sallyport')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'package.json'), JSON.stringify(readJson('package.json')))
  const names = (await readdir(modules)).filter((name) => !name.startsWith('.') && name !== 'sallyport')
  await Promise.all(names.map((name) => symlink(join(modules, name), join(folder, 'node_modules', name))))
  const args = [bin('tsup'), '--silent', '--no-dts', '--out-dir', join(own, 'dist')]
  await promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(ROOT) })
}
