/**
 * `npm run record -- npm run chaos -- crashes --seeds 2` runs a command and appends its output to
 * `docs/figures/<today>.md`, with the date, the machine and its load. Pages of the docs state figures of these files only.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const ROOT = new URL('../../../', import.meta.url)
const FOLDER = new URL('docs/figures/', ROOT)
/** Environment variables that change what a command does. */
const SHOWN = /^(?:SALLYPORT|BENCH)_/

const [program, ...args] = process.argv.slice(2)
if (program === undefined) throw new Error('give a command: npm run record -- npm run timing')

const begun = new Date()
const [loadBefore] = loadavg()
const child = spawn(program, args, { cwd: fileURLToPath(ROOT), env: { ...process.env, NO_COLOR: '1', CI: '1' } })
let output = ''
for (const stream of [child.stdout, child.stderr])
  stream.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk)
    output += chunk.toString()
  })
const [status] = await once(child, 'close')

await mkdir(FOLDER, { recursive: true })
const day = begun.toISOString().slice(0, 10)
const file = new URL(`${day}.md`, FOLDER)
if (!existsSync(file)) await appendFile(file, `# Figures of ${day}\n\n`)
await appendFile(file, section())
process.exitCode = status ?? 1

function section(): string {
  const variables = Object.entries(process.env).filter(([name]) => SHOWN.test(name))
  const command = [...variables.map(([name, value]) => `${name}=${value}`), program, ...args].join(' ')
  const processor = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const seconds = Math.round((Date.now() - begun.getTime()) / 1000)
  return [
    `## \`${command}\``,
    '',
    `- Date: ${begun.toISOString().slice(0, 16)}Z, ${seconds} s, exit ${status}`,
    `- Machine: ${processor.length} cores of ${processor[0]?.model.trim()}, ${memory} GiB, ${type()} ${release().split('-')[0]}, Node ${process.version}`,
    `- Load average of the machine: ${loadBefore?.toFixed(1)} before, ${loadavg()[0]?.toFixed(1)} after`,
    '',
    '```text',
    withoutPaths(stripVTControlCharacters(output)).trim(),
    '```',
    '',
    '',
  ].join('\n')
}

/** The place of the checkout says nothing. */
function withoutPaths(text: string): string {
  return text.replaceAll(fileURLToPath(ROOT).replace(/\/$/, ''), '.')
}
