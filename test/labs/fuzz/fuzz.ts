/**
 * `npm run fuzz` tries all properties and hostile requests with a new seed, and prints it. `SALLYPORT_SEED` repeats one,
 * `SALLYPORT_PROPERTY_RUNS=10` tries ten times as many examples, `SALLYPORT_FUZZ` sets the number of hostile requests.
 * Options of vitest follow after `--`.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { propertyFiles } from '../../support/parts.ts'

const { SALLYPORT_SEED = `${randomInt(2 ** 31)}`, SALLYPORT_FUZZ = '100000' } = process.env
console.log(`seed ${SALLYPORT_SEED}: to repeat it, SALLYPORT_SEED=${SALLYPORT_SEED} npm run fuzz`)

const files = [...propertyFiles(), 'test/hostile/input/']
const { status } = spawnSync('npm', ['run', 'test:rest', '--', ...files, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('../../../', import.meta.url)),
  env: { ...process.env, SALLYPORT_SEED, SALLYPORT_FUZZ },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
