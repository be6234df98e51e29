/** `npm run test:near PATH...` runs the tests that mirror folders or files. Options of vitest follow after `--`. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allTestFiles, REST_FILES } from '../../support/parts.ts'
import { testsNear } from './tests-near.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

process.exitCode = runNear(process.argv.slice(2))

/** @returns The exit code. */
function runNear(given: readonly string[]): number {
  const firstOption = given.findIndex((argument) => argument.startsWith('-'))
  const [named, options] = firstOption < 0 ? [given, []] : [given.slice(0, firstOption), given.slice(firstOption)]
  // npm runs scripts in the root, wherever it is called.
  const paths = named.map((path) => relative(ROOT, resolve(process.env.INIT_CWD ?? '', path)))
  const missing = paths.filter((path) => !existsSync(resolve(ROOT, path)))
  if (paths.length === 0) return fail('Name folders or files: npm run test:near src/core/runs')
  if (missing.length > 0) return fail(`There is no ${missing.join(', ')}`)
  try {
    // vitest runs all files whose path contains a filter: a full path is exact.
    const files = testsNear(paths, allTestFiles())
    const here = files.filter((file) => !REST_FILES.has(file))
    const others = files.filter((file) => REST_FILES.has(file))
    if (others.length > 0) console.log(`Of \`npm run test:rest\`, and left out: ${others.join(', ')}`)
    if (here.length === 0) return 0
    return spawnSync('npm', ['test', '--', ...here, ...options], { cwd: ROOT, stdio: 'inherit' }).status ?? 1
  } catch (error) {
    return fail((error as Error).message)
  }
}

function fail(message: string): number {
  console.error(message)
  return 1
}
