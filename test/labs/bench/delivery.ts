import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { plotDelivery } from './delivery-plot.ts'
import { median, ratios, spread } from './measure.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
const ROUNDS = 3
const HEAP_MB = 8_192
const PLOT = file('../../../docs/performance-delivery.svg')

/** Microseconds per delivery. */
export interface DeliveryFigure {
  readonly accept: number
  readonly deliver: number
}

/**
 * Cost of a delivery to a channel that does nothing, by queue size. Each size has its own process. The processes take
 * turns, so that a slow machine slows all of them.
 */
export async function benchDelivery(): Promise<void> {
  const children = SIZES.map(start)
  try {
    for (const child of children) await once(child, 'message')
    const figures: DeliveryFigure[][] = SIZES.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, child] of children.entries()) figures[index]?.push(await measure(child))
    }
    print(figures)
  } finally {
    for (const child of children) child.kill()
  }
}

function print(figures: readonly DeliveryFigure[][]): void {
  console.log('\nDelivery from the memory store: us to accept one, us to deliver one, ratio to 1,000 queued')
  const base = (figures[0] ?? []).map(({ deliver }) => deliver)
  const points = SIZES.map((queued, index) => {
    const micros = (figures[index] ?? []).map(({ deliver }) => deliver)
    const accept = median((figures[index] ?? []).map((figure) => figure.accept))
    const name = `${queued.toLocaleString('en')} queued`.padStart(18)
    console.log(
      `${name} ${accept.toFixed(1).padStart(7)} us   ${spread(micros, 1).padEnd(18)} us   ${spread(ratios(micros, base))}`,
    )
    return { queued, micros }
  })
  if (process.argv.includes('--plot')) writeFileSync(PLOT, plotDelivery(points))
}

function start(size: number): ChildProcess {
  return fork(file('delivery-process.ts'), [String(size)], {
    execArgv: ['--import', 'tsx', `--max-old-space-size=${HEAP_MB}`],
    env: { ...process.env, TSX_TSCONFIG_PATH: file('tsconfig.json') },
  })
}

async function measure(child: ChildProcess): Promise<DeliveryFigure> {
  child.send('round')
  const [figure] = await once(child, 'message')
  return figure
}

function file(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
