/**
 * Runs one case in its own process for {@link ./loop.ts}; prints the blocking time of the first and later runs, in
 * milliseconds.
 */
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { CASES } from './cases.ts'

const SETTLE_MS = 5
const ROUNDS = 3
const SHARES = [0.25, 0.5, 1]

const make = CASES[process.argv[2] ?? '']
if (!make) throw new Error('there is no such case')
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// The monitor needs a first run too.
await longestBlock(async () => () => {}, 1)
const cold = await longestBlock(make, 1)
const warm: number[] = []
for (const share of SHARES) {
  const blocks: number[] = []
  for (let round = 0; round < ROUNDS; round++) blocks.push(await longestBlock(make, share))
  warm.push(blocks.sort((a, b) => a - b)[1] ?? 0)
}
console.log(JSON.stringify({ cold, warm }))
process.exit()

async function longestBlock(made: NonNullable<typeof make>, share: number): Promise<number> {
  const act = await made(share)
  await wait(SETTLE_MS)
  delay.reset()
  await wait(SETTLE_MS)
  const longestTurn = watchTurns()
  await act()
  await wait(SETTLE_MS)
  return Math.min(delay.max / 1e6, longestTurn())
}

/**
 * Maximum processor time of this thread in one turn of the loop, if the system reports it (Linux). Blocking beyond that
 * is due to other processes.
 */
function watchTurns(): () => number {
  let longest = 0
  let before = workedMs()
  const look = (): void => {
    const now = workedMs()
    longest = Math.max(longest, now - before)
    before = now
    next = setImmediate(look)
  }
  let next = setImmediate(look)
  return () => {
    clearImmediate(next)
    return longest
  }
}

function workedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
