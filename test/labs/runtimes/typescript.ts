import { type ExecFileException, execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ENTRIES } from '../../package/entries.ts'
import { fetchPackage, NotFetched } from './registry.ts'
import type { Report } from './report.ts'
import type { Site } from './runtime.ts'

const run = promisify(execFile)

/** The oldest supported version, a common one, and the two current ones; 7 is the compiler in Go. */
const VERSIONS = ['5.4.5', '5.9.3', '6.0.3', '7.0.2']

const STRICT = {
  ...{ target: 'ES2022', lib: ['ES2023'], types: ['node'], strict: true, noEmit: true },
  ...{ noUncheckedIndexedAccess: true, skipLibCheck: false, skipDefaultLibCheck: true },
}

/** Settings of consumers: module resolution, and whether optional properties may be `undefined`. */
const SETTINGS: Readonly<Record<string, object>> = {
  'nodenext, exact': {
    ...{ module: 'NodeNext', moduleResolution: 'NodeNext', exactOptionalPropertyTypes: true },
  },
  'bundler, loose': {
    ...{ module: 'ESNext', moduleResolution: 'Bundler', exactOptionalPropertyTypes: false },
  },
}

/** Packages of hosts: faults in their types are not ours. */
const OF_HOSTS = /^node_modules\/(?:hono|@hono|@types)\//

/** Imports every entry. */
const EVERY_ENTRY = 'every-entry.ts'

/** Compiles the consumers with every version, including the declarations of all dependencies. */
export async function withTypeScript(site: Site, report: Report): Promise<void> {
  const hosts = (await readdir(site.project)).filter((name) => /^typed-.+\.ts$/.test(name))
  const projects = Object.entries(SETTINGS).map(([name, settings], index) => {
    const tsconfig = { compilerOptions: { ...STRICT, ...settings }, files: ['use.ts', ...hosts, EVERY_ENTRY] }
    return { name, file: `tsconfig.${index}.json`, text: JSON.stringify(tsconfig) }
  })
  const imports = Object.keys(ENTRIES).map((name, index) => `export * as entry${index} from '${name}'\n`)
  await writeFile(join(site.project, EVERY_ENTRY), imports.join(''))
  for (const { file, text } of projects) await writeFile(join(site.project, file), text)
  for (const version of VERSIONS) {
    const folder = await fetchPackage(site.cache, 'typescript', version).catch((error: unknown) => {
      if (!(error instanceof NotFetched)) throw error
      report.skip(`TypeScript ${version}`, error.message)
    })
    if (folder === undefined) continue
    for (const { name, file } of projects) {
      const { ours, others } = await compile(join(folder, 'bin/tsc'), site.project, file)
      report.group(`TypeScript ${version}`, name, 1, ours.length === 0 ? [] : [ours.join('\n')])
      for (const line of others) report.print(`        not ours: ${line}`)
    }
  }
}

interface Diagnostics {
  readonly ours: readonly string[]
  readonly others: readonly string[]
}

async function compile(tsc: string, cwd: string, tsconfig: string): Promise<Diagnostics> {
  const args = [tsc, '-p', tsconfig, '--pretty', 'false']
  const printed = await run(process.execPath, args, { cwd }).then(
    () => '',
    ({ message, stdout }: ExecFileException) => stdout?.trim() || message,
  )
  // An indented line continues the previous one.
  const lines = printed.split(/\n(?! )/).filter((line) => line !== '')
  return {
    ours: lines.filter((line) => !OF_HOSTS.test(line)),
    others: lines.filter((line) => OF_HOSTS.test(line)),
  }
}
