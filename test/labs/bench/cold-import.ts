import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { spread } from './measure.ts'

const run = promisify(execFile)
const PROCESSES = 15
const ENTRIES = ['sallyport', 'sallyport/fetch', 'sallyport/express', 'sallyport/auth', 'sallyport/client', 'valibot']

/** Import time of an entry in a new process, in milliseconds. */
export async function benchColdImport(): Promise<void> {
  console.log(`\nImport in a new process, in ms, of ${PROCESSES} processes each`)
  const times = new Map<string, number[]>(ENTRIES.map((entry) => [entry, []]))
  for (let round = 0; round < PROCESSES; round++) {
    for (const [entry, found] of times) found.push(await importTime(entry))
  }
  for (const [entry, found] of times) console.log(`  ${entry.padEnd(28)} ${spread(found, 1)}`)
}

async function importTime(entry: string): Promise<number> {
  const program = `const begun = performance.now(); await import('${entry}'); console.log(performance.now() - begun)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  return Number(stdout)
}
