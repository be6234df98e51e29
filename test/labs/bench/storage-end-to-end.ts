import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeliveryQueue } from 'sallyport'
import { postgresQueue } from 'sallyport/queue/postgres'
import { sqlStore } from 'sallyport/storage/sql'
import { spread } from './measure.ts'
import { postgresTime, type ServerTime } from './server-time.ts'
import type { BenchDatabase } from './storage-databases.ts'
import { empty } from './storage-fill.ts'
import { type Figure, figureOf, inFlight, type Sides, sideBySide } from './storage-measure.ts'
import { graphileJobs, type JobQueue, pgBossJobs } from './storage-queues.ts'
import { HANG_MS, type Host, hostOn } from './storage-worker.ts'

const EVENTS = 3_000
const PLACES = 50

/** From the accepting call to the send, with the worker in the same process. */
export async function benchEndToEnd(database: BenchDatabase): Promise<void> {
  const { pool, kysely } = database
  const store = sqlStore({ db: kysely, dialect: 'postgresql', timeoutMs: HANG_MS })
  await store.migrate()
  await empty(pool)
  const queue = postgresQueue({ client: database.client })
  const hosts: Record<string, Host> = { 'local queue': await hostOn(store), postgresQueue: await hostOn(store, queue) }
  const others = [await graphileJobs(database, false), await graphileJobs(database, true), await pgBossJobs(database)]
  const serverTime = await postgresTime(pool)
  try {
    await throughput(hosts, others, serverTime)
    await latency(hosts, others)
  } finally {
    await (queue as DeliveryQueue & { close(): Promise<void> }).close()
    for (const other of others) await other.close()
  }
}

async function throughput(
  hosts: Readonly<Record<string, Host>>,
  others: readonly JobQueue[],
  serverTime?: ServerTime,
): Promise<void> {
  const sides: Sides = Object.fromEntries([
    ...Object.entries(hosts).map(([name, host]) => [`dispatch, ${name}`, () => throughHost(host, serverTime)]),
    ...others.map((other) => [other.name, () => throughQueue(other)]),
  ])
  await sideBySide(`PostgreSQL: accepted and sent, ${PLACES} in flight`, 5, sides)
}

function throughHost({ worker, dispatch, sent }: Host, serverTime?: ServerTime): Promise<Figure> {
  const through = async (): Promise<void> => {
    worker.start()
    const all = sent(EVENTS)
    await inFlight(EVENTS, PLACES, () => dispatch())
    await all
    await worker.stop()
  }
  return figureOf(EVENTS, through, serverTime)
}

async function throughQueue(queue: JobQueue): Promise<Figure> {
  await queue.start()
  const through = async (): Promise<void> => {
    const all = queue.handled(EVENTS)
    await inFlight(EVENTS, PLACES, () => queue.add())
    await all
  }
  const figure = await figureOf(EVENTS, through, queue.serverTime)
  await queue.stop()
  return figure
}

const ROUNDS = 7
const CALLS = 15

/** One event at a time, on an idle worker. */
async function latency(hosts: Readonly<Record<string, Host>>, others: readonly JobQueue[]): Promise<void> {
  const calls = Object.entries(hosts).map(([name, { worker, dispatch, sent }]) => ({
    name: `dispatch, ${name}`,
    start: () => worker.start(),
    add: dispatch,
    handled: sent,
    stop: () => worker.stop(),
  }))
  const sides = [...calls, ...others]
  const medians = new Map<string, number[]>(sides.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of sides) {
      await side.start()
      await sleep(100)
      const times = await waits(side)
      await side.stop()
      medians.get(side.name)?.push(times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN)
    }
  }
  console.log(
    `\nPostgreSQL: ms from the call to the send, one at a time, medians of ${CALLS}; load ${loadavg()[0]?.toFixed(1)}`,
  )
  for (const [name, values] of medians) console.log(`  ${name.padEnd(44)} ${spread(values, 1)} ms`)
}

async function waits({ add, handled }: Pick<JobQueue, 'add' | 'handled'>): Promise<number[]> {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const done = handled(1)
    const since = performance.now()
    await Promise.all([add(), done])
    times.push(performance.now() - since)
    await sleep(30 + Math.random() * 20)
  }
  return times
}
