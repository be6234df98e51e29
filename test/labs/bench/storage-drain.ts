import type { DispatchStore } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import { postgresTime } from './server-time.ts'
import type { BenchDatabase } from './storage-databases.ts'
import { empty, fill } from './storage-fill.ts'
import { type Figure, figureOf, type Sides, sideBySide } from './storage-measure.ts'
import { bullmqJobs, graphileJobs, type JobQueue, pgBossJobs } from './storage-queues.ts'
import { CONCURRENCY, HANG_MS, hostOn } from './storage-worker.ts'

/** `BENCH_JOBS` sets another number. */
const JOBS = Number(process.env.BENCH_JOBS ?? 20_000)

/** Waiting deliveries claimed, sent by a channel that does nothing, and settled, by one worker in this process. */
export async function benchDrain(database: BenchDatabase, hasRedis: boolean): Promise<void> {
  const { pool, kysely } = database
  const store = sqlStore({ db: kysely, dialect: 'postgresql', timeoutMs: HANG_MS })
  await store.migrate()
  const { worker, sent } = await hostOn(store)
  const serverTime = await postgresTime(pool)

  async function byWorker(): Promise<Figure> {
    await empty(pool)
    await fill(pool, { count: JOBS })
    const drained = async (): Promise<void> => {
      const all = sent(JOBS)
      worker.start()
      await all
      await worker.stop()
    }
    return figureOf(JOBS, drained, serverTime)
  }

  async function byLoop(): Promise<Figure> {
    await empty(pool)
    await fill(pool, { count: JOBS })
    return figureOf(JOBS, () => drain(store, JOBS), serverTime)
  }

  const queues = [await graphileJobs(database, false), await graphileJobs(database, true), await pgBossJobs(database)]
  if (hasRedis) queues.unshift(await bullmqJobs())
  try {
    const others: Sides = Object.fromEntries(queues.map((queue) => [queue.name, () => byQueue(queue)]))
    const title = `PostgreSQL: ${JOBS} waiting deliveries claimed, sent by a no-op channel and settled, ${CONCURRENCY} at a time`
    await sideBySide(title, 3, { worker: byWorker, 'claim and settle in a loop, no worker': byLoop, ...others })
  } finally {
    for (const queue of queues) await queue.close()
  }
}

/** Claims and settles until this many are settled. */
export async function drain(store: DispatchStore, count: number): Promise<void> {
  let left = count
  const attempt = { outcome: 'sent' } as const
  while (left > 0) {
    const { deliveries } = await store.claim({ leaseMs: 30_000, limits: { none: CONCURRENCY }, busy: [] })
    const settled = deliveries.map(({ deliveryId, fence }) => store.settle({ deliveryId, fence, to: 'sent', attempt }))
    for (const { live } of await Promise.all(settled)) if (live) left--
  }
}

async function byQueue(queue: JobQueue): Promise<Figure> {
  await queue.fill(JOBS)
  return figureOf(JOBS, () => queue.drain(JOBS), queue.serverTime)
}
