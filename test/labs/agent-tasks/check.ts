/**
 * Measures whether a coding agent can use the package at its first attempt.
 *
 * 1. Make a project: a folder with a package.json of type `module` and a tsconfig.json. Install the packed package, and of our development
 *    dependencies `express`, `valibot`, `kysely`, `libsql`, `nodemailer`, `smtp-server`, `standardwebhooks`, `liquidjs`, `json-logic-engine`,
 *    `rate-limiter-flexible`, `hono` and `tsx`.
 * 2. To measure the package without its docs, delete `node_modules/sallyport/dist/docs` in the project. Otherwise leave it.
 * 3. `npm run --silent agent-tasks -- --print > FOLDER/TASKS.md` writes the tasks. Give the folder to an agent, and nothing else.
 *    To limit what the agent reads, copy `look.mjs` into the folder, and let it read the package by that program alone.
 * 4. `npm run agent-tasks -- FOLDER` checks `FOLDER/<name>.ts` of each task, in a process of its own that uses the project's packages.
 *
 * The exit code is 1 unless all tasks are solved.
 */
import { execFile } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { printTasks, TASKS } from './tasks.ts'

const run = promisify(execFile)

/** Files that run in the project, so that they use its packages. */
const COPIED = ['check-one.ts', 'parts.ts', 'task.ts', 'tasks.ts', 'tasks']
const LIMIT_MS = 60_000

async function checkFolder(folder: string): Promise<number> {
  const copy = join(folder, '.agent-tasks')
  const here = fileURLToPath(new URL('./', import.meta.url))
  for (const name of COPIED) await cp(join(here, name), join(copy, name), { recursive: true })
  let solved = 0
  try {
    for (const { name } of TASKS) {
      const fault = await findFault(folder, copy, name)
      console.log(`${name}: ${fault === undefined ? 'solved' : `failed: ${fault}`}`)
      if (fault === undefined) solved++
    }
  } finally {
    await rm(copy, { recursive: true })
  }
  console.log(`${solved} of ${TASKS.length} solved`)
  return solved
}

async function findFault(folder: string, copy: string, name: string): Promise<string | undefined> {
  const args = ['--import', 'tsx', join(copy, 'check-one.ts'), name, join(folder, `${name}.ts`)]
  // `npm` and `tsx` set variables for this package that would apply to the project.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^(?:npm_|tsx_|node_options$)/i.test(key)),
  )
  const options = { cwd: folder, env: env as NodeJS.ProcessEnv, timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const
  // A process that an unhandled error ends has printed it.
  const { stdout, stderr } = await run(process.execPath, args, options).catch(
    (failure: { readonly stdout: string; readonly stderr: string }) => failure,
  )
  const last = stdout.split('\n').at(-1)
  if (last === 'solved') return undefined
  return last || /^\w*Error\b.*/m.exec(stderr)?.[0] || 'the process ended without a result'
}

const [argument] = process.argv.slice(2)
if (argument === '--print') {
  process.stdout.write(printTasks())
} else if (argument === undefined) {
  console.error('usage: npm run agent-tasks -- FOLDER, or -- --print')
  process.exitCode = 2
} else {
  process.exitCode = (await checkFolder(resolve(argument))) === TASKS.length ? 0 : 1
}
