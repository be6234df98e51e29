/** Checks that all holds without one plugin: `npm run without statistics`. Options: `--only compile`, `--keep`. */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { removePlugin, STEPS } from './without-plugin.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, keep: { type: 'boolean' } },
})
const [name = ''] = positionals
const copy = await removePlugin(name)
const failed: string[] = []
try {
  for (const [step, run] of Object.entries(STEPS)) {
    if (values.only !== undefined && values.only !== step) continue
    const started = performance.now()
    const passed = await run(copy)
    if (!passed) failed.push(step)
    const seconds = Math.round((performance.now() - started) / 1_000)
    console.log(`without ${name}: ${step} ${passed ? 'passed' : 'FAILED'} (${seconds} s)`)
  }
} finally {
  if (values.keep) console.log(`the copy is ${copy.folder}`)
  else await copy.remove()
}
if (failed.length > 0) process.exitCode = 1
