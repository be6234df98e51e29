import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createConsole, type Mountable } from 'sallyport/console'
import { toNode } from 'sallyport/node'
import { sqlStore } from 'sallyport/storage/sql'
import { processorTime } from './measure.ts'
import { type BenchDatabase, isThere, POSTGRES_URL, withDatabase } from './storage-databases.ts'
import { fill } from './storage-fill.ts'
import { type Figure, figureOf, printProcessorTime, sideBySide } from './storage-measure.ts'
import { CONCURRENCY, hostOn } from './storage-worker.ts'

const COUNT = 60_000
const IDLE_MS = 20_000

/** A worker that drains a backlog on PostgreSQL, alone and with ten consoles open that its process serves. */
export async function benchConsoles(): Promise<void> {
  if (await isThere(POSTGRES_URL, 5432)) await withDatabase(compare)
}

async function compare({ pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  const { sallyport, worker, sent } = await hostOn(store)
  const server = createServer(toNode(createConsole(sallyport, { access: () => 'operate' })))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const answers = new Map<number, number>()

  await recordRuns(sallyport)
  await drain()
  const { items } = await sallyport.dispatches.list({ limit: 1 })

  async function drain(): Promise<Figure> {
    await fill(pool, { count: COUNT })
    return figureOf(COUNT, async () => {
      const all = sent(COUNT)
      worker.start()
      await all
      await worker.stop()
    })
  }

  async function withConsoles<T>(work: () => Promise<T>): Promise<T> {
    const file = fileURLToPath(new URL('consoles-process.ts', import.meta.url))
    const consoles = fork(file, [url, items[0]?.dispatchId ?? ''], { execArgv: ['--import', 'tsx'] })
    // Until every path was answered.
    await once(consoles, 'message')
    const result = await work()
    consoles.send('end')
    const [counted] = (await once(consoles, 'message')) as [readonly (readonly [status: number, count: number])[]]
    for (const [status, count] of counted) answers.set(status, (answers.get(status) ?? 0) + count)
    consoles.kill()
    await once(consoles, 'exit')
    return result
  }

  const figures = await sideBySide(`PostgreSQL: ${COUNT} deliveries sent and settled, ${CONCURRENCY} at a time`, 7, {
    'no console': drain,
    'ten consoles': () => withConsoles(drain),
  })
  printProcessorTime(figures)
  console.log(`  answers to consoles: ${[...answers].map(([status, count]) => `${count} x ${status}`).join(', ')}`)
  worker.start()
  const [alone, watched] = [await idle(), await withConsoles(idle)]
  await worker.stop()
  console.log(
    `  a waiting worker, processor time a second: ${alone.toFixed(1)} ms, with ten consoles ${watched.toFixed(1)} ms`,
  )
  server.closeAllConnections()
  server.close()
}

/** Milliseconds of processor time per second while nothing is due. */
async function idle(): Promise<number> {
  const [since, hadBefore] = [performance.now(), processorTime()]
  await setTimeout(IDLE_MS)
  return ((processorTime() - hadBefore) * 1_000) / (performance.now() - since)
}

/** A session with a hundred runs. */
async function recordRuns({ endpoints }: Mountable): Promise<void> {
  for (let at = 0; at < 100; at++) {
    const run = { runId: `r${at}`, status: 'completed', model: 'gpt-5', counts: { inputTokens: 900, outputTokens: 90 } }
    const request = { headers: {}, body: { sessionId: 's1', run } }
    const { ok } = await endpoints.handle('session_run', { id: 'bench', tenant: 'default' }, request)
    if (!ok) throw new Error('a run was not recorded')
  }
}
