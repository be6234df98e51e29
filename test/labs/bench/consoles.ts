import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createConsole, type Mountable } from 'sallyport/console'
import { toNode } from 'sallyport/node'
import { sqlStore } from 'sallyport/storage/sql'
import { handled } from '../../support/handled.ts'
import { quantile, ratios } from './measure.ts'
import { type BenchDatabase, isThere, POSTGRES_URL, withDatabase } from './storage-databases.ts'
import { fill } from './storage-fill.ts'
import { type Figure, figureOf, printSides } from './storage-measure.ts'
import { CONCURRENCY, hostOn } from './storage-worker.ts'

const COUNT = 150_000
const DRAINS = 12
const TURN_MS = 2_000
const IDLE_MS = 20_000
/** A page asks every two seconds. */
const PAUSE_MS = 2_000
/** Turns vary by more than consoles cost, so the consoles live ten times as fast: they cost a tenth of the measured. */
const SPEED = 10

type Side = 'no console' | 'ten consoles'

/** A worker that drains a backlog on PostgreSQL, in turns alone and with ten consoles open that its process serves. */
export async function benchConsoles(): Promise<void> {
  if (await isThere(POSTGRES_URL, 5432)) await withDatabase(compare)
}

async function compare({ pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  const host = await hostOn(store)
  const { sallyport, worker, sent } = host
  await recordRuns(sallyport)
  await drain(async () => {})
  const { items } = await sallyport.dispatches.list({ limit: 1 })
  const server = createServer(toNode(createConsole(faster(sallyport), { access: () => 'operate' })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const consoles = fork(
    fileURLToPath(new URL('consoles-process.ts', import.meta.url)),
    [
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      items[0]?.dispatchId ?? '',
      String(PAUSE_MS / SPEED),
    ],
    { execArgv: ['--import', 'tsx'] },
  )
  // Until every path was answered.
  await once(consoles, 'message')

  async function drain(during: (isDrained: () => boolean) => Promise<void>): Promise<void> {
    await fill(pool, { count: COUNT })
    let isDrained = false
    const all = sent(COUNT).then(() => {
      isDrained = true
    })
    worker.start()
    await during(() => isDrained)
    await all
    await worker.stop()
  }

  async function turn(isWatched: boolean): Promise<Figure> {
    consoles.send(isWatched ? 'open' : 'close')
    const before = host.total()
    const { perSecond, micros } = await figureOf(1, () => setTimeout(TURN_MS))
    const count = host.total() - before
    return { perSecond: perSecond * count, micros: micros / count }
  }

  const figures: Record<Side, Figure[]> = { 'no console': [], 'ten consoles': [] }
  for (let at = 0; at < DRAINS; at++) {
    await drain(async (isDrained) => {
      for (let isFirstWatched = at % 2 === 0; ; isFirstWatched = !isFirstWatched) {
        const [first, second] = [await turn(isFirstWatched), await turn(!isFirstWatched)]
        if (isDrained()) return
        figures['ten consoles'].push(isFirstWatched ? first : second)
        figures['no console'].push(isFirstWatched ? second : first)
      }
    })
  }
  printSides(
    `PostgreSQL: deliveries sent and settled, ${CONCURRENCY} at a time; consoles ask ${SPEED} times as often`,
    figures,
  )
  printCosts(figures)

  worker.start()
  const [alone, watched] = [await idle(false), await idle(true)]
  await worker.stop()
  const cost = ((watched - alone) / SPEED).toFixed(1)
  console.log(`  a waiting worker: ${alone.toFixed(1)} ms of processor time a second; ten consoles add ${cost} ms`)
  consoles.send('end')
  const [counted] = (await once(consoles, 'message')) as [readonly (readonly [status: number, count: number])[]]
  console.log(`  answers to consoles: ${counted.map(([status, count]) => `${count} x ${status}`).join(', ')}`)
  consoles.disconnect()
  await once(consoles, 'exit')
  server.closeAllConnections()
  server.close()

  /** Milliseconds of processor time per second while nothing is due. */
  async function idle(isWatched: boolean): Promise<number> {
    consoles.send(isWatched ? 'open' : 'close')
    const { micros } = await figureOf(IDLE_MS / 1_000, () => setTimeout(IDLE_MS))
    return micros / 1_000
  }
}

/** The console with a clock of its own: what it shares for a second, it shares for a tenth. */
function faster({ endpoints, ...sallyport }: Mountable): Mountable {
  const { clock } = endpoints
  return { ...sallyport, endpoints: { ...endpoints, clock: { ...clock, now: () => clock.now() * SPEED } } }
}

/** What consoles that ask as often as a page cost, in per cent: the median over the pairs of turns. */
function printCosts({ 'no console': alone, 'ten consoles': watched }: Readonly<Record<Side, readonly Figure[]>>): void {
  for (const [name, of] of [
    ['processor time of a delivery', ({ micros }: Figure) => micros],
    ['time of a delivery', ({ perSecond }: Figure) => 1 / perSecond],
  ] as const) {
    const pairs = ratios(watched.map(of), alone.map(of))
    const costs = [0.25, 0.5, 0.75].map((share) => (((quantile(pairs, share) - 1) / SPEED) * 100).toFixed(2))
    console.log(
      `  ten consoles add to the ${name}: ${costs[1]} % (half of ${pairs.length} pairs: ${costs[0]} to ${costs[2]})`,
    )
  }
}

/** The longest session that its screen shows without pages. */
async function recordRuns({ endpoints }: Mountable): Promise<void> {
  for (let at = 0; at < 99; at++) {
    const run = { runId: `r${at}`, status: 'completed', model: 'gpt-5', counts: { inputTokens: 900, outputTokens: 90 } }
    const request = { headers: {}, body: { sessionId: 's1', run } }
    const { ok } = await handled(endpoints, 'session_run', { id: 'bench', tenant: 'default' }, request)
    if (!ok) throw new Error('a run was not recorded')
  }
}
