/**
 * `npm run hostile-loop` measures how long hostile input blocks the event loop, each case in its own process; `--
 * template` selects the cases whose names contain that. Fails if a case takes longer than {@link LIMIT_MS}, at first or
 * later.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CASES } from './cases.ts'

const LIMIT_MS = 50
/** Other load can only lengthen a time, so the minimum of several tries counts. */
const TRIES = 3

interface Blocks {
  readonly cold: number
  /** With a quarter, a half, and all of the maximum size. */
  readonly warm: readonly number[]
}

/** The longest times of one kind of case. */
interface Worst {
  readonly cases: number
  readonly cold: number
  readonly warm: number
}

const program = fileURLToPath(new URL('case-process.ts', import.meta.url))
const run = promisify(execFile)
const wanted = process.argv.slice(2)
const names = Object.keys(CASES).filter((name) => wanted.every((word) => name.includes(word)))
const over: string[] = []
const kinds = new Map<string, Worst>()
console.log(`${names.length} cases, the longest block of each in ms: cold, warm; warm with a quarter, a half, all`)
for (const name of names) {
  const { cold, warm } = await measure(name)
  const worst = Math.max(cold, warm.at(-1) ?? 0)
  const isOver = worst > LIMIT_MS
  if (isOver) over.push(name)
  const kind = name.slice(0, name.indexOf(':'))
  const { cases, cold: coldest, warm: warmest } = kinds.get(kind) ?? { cases: 0, cold: 0, warm: 0 }
  kinds.set(kind, { cases: cases + 1, cold: Math.max(coldest, cold), warm: Math.max(warmest, warm.at(-1) ?? 0) })
  const cells = [cold, warm.at(-1) ?? 0].map((ms) => ms.toFixed(1).padStart(7))
  console.log(
    `${cells.join(' ')}  ${warm
      .map((ms) => ms.toFixed(1))
      .join(' ')
      .padEnd(18)} ${name}${isOver ? '  OVER' : ''}`,
  )
}
console.log('\n| kind | cases | longest at first, ms | longest later, ms |\n|---|---:|---:|---:|')
for (const [kind, { cases, cold, warm }] of kinds)
  console.log(`| ${kind} | ${cases} | ${cold.toFixed(1)} | ${warm.toFixed(1)} |`)
if (over.length > 0) {
  console.error(`over ${LIMIT_MS} ms: ${over.join('; ')}`)
  process.exitCode = 1
}

async function measure(name: string): Promise<Blocks> {
  let least: Blocks | undefined
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { stdout, stderr } = await run(process.execPath, ['--import', 'tsx', program, name])
    if (stderr !== '') console.error(stderr.trimEnd())
    const blocks = JSON.parse(stdout) as Blocks
    least = least ? minimum(least, blocks) : blocks
    if (Math.max(least.cold, ...least.warm) <= LIMIT_MS) break
  }
  if (!least) throw new Error('no try succeeded')
  return least
}

function minimum(a: Blocks, b: Blocks): Blocks {
  return { cold: Math.min(a.cold, b.cold), warm: a.warm.map((ms, index) => Math.min(ms, b.warm[index] ?? ms)) }
}
