import { randomBytes } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Redis } from 'ioredis'
import pg from 'pg'
import PgBoss from 'pg-boss'
import { postgresTime, redisTime, type ServerTime } from './server-time.ts'
import { type BenchDatabase, REDIS_URL } from './storage-databases.ts'
import { contentText } from './storage-rows.ts'
import { CONCURRENCY } from './storage-worker.ts'

/** A third-party queue with jobs that do nothing. */
export interface JobQueue {
  readonly name: string
  /** Of the server that keeps the jobs; absent if it cannot be measured. */
  readonly serverTime?: ServerTime | undefined
  /** Adds waiting jobs up to this number. */
  fill(count: number): Promise<void>
  /** Handles this many waiting jobs with a worker. */
  drain(count: number): Promise<void>
  /** Starts a permanent worker. */
  start(): Promise<void>
  add(): Promise<unknown>
  /** Resolves when this many more jobs are handled. Call it before adding them. */
  handled(count: number): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
}

const DATA = { content: contentText('email'), address: 'ada@example.com' }

/** Counts handled jobs. */
function counter(): { readonly handle: (count?: number) => void; readonly handled: (count: number) => Promise<void> } {
  let left = 0
  let done = (): void => {}
  return {
    handle(count = 1) {
      left -= count
      if (left <= 0) done()
    },
    handled: (count) =>
      new Promise((resolve) => {
        left = count
        done = resolve
      }),
  }
}

export async function bullmqJobs(): Promise<JobQueue> {
  const url = new URL(REDIS_URL)
  const connection = { host: url.hostname, port: Number(url.port || 6379) }
  const [name, prefix] = ['jobs', `sallyport-bench-${randomBytes(4).toString('hex')}`]
  const jobOptions = { removeOnComplete: true }
  const queue = new Queue(name, { connection, prefix, defaultJobOptions: jobOptions })
  const { handle, handled } = counter()
  const redis = new Redis(connection)
  let worker: Worker | undefined
  const self: JobQueue = {
    name: 'BullMQ on Redis',
    serverTime: redisTime(redis),
    async fill(count) {
      for (let added = 0; added < count; added += 1000)
        await queue.addBulk(Array.from({ length: Math.min(1000, count - added) }, () => ({ name, data: DATA })))
    },
    async drain(count) {
      const all = handled(count)
      await self.start()
      await all
      await self.stop()
    },
    async start() {
      worker = new Worker(name, async () => handle(), { connection, prefix, concurrency: CONCURRENCY })
    },
    add: () => queue.add(name, DATA),
    handled,
    stop: async () => worker?.close(),
    async close() {
      await queue.obliterate({ force: true })
      await queue.close()
      const keys = await redis.keys(`${prefix}:*`)
      if (keys.length > 0) await redis.del(...keys)
      redis.disconnect()
    },
  }
  return self
}

const BATCHES = {
  worker: { concurrentJobs: CONCURRENCY, localQueue: { size: CONCURRENCY }, completeJobBatchDelay: 0 },
}

/** @param isBatched Its batch mode: jobs are fetched into a local queue and completed together. */
export async function graphileJobs({ url }: BenchDatabase, isBatched: boolean): Promise<JobQueue> {
  const logger = new Logger(() => () => {})
  const pool = new pg.Pool({ connectionString: url, max: 20 })
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  await utils.migrate()
  const { handle, handled } = counter()
  let runner: { stop(): Promise<void> } | undefined
  const self: JobQueue = {
    name: isBatched ? 'graphile-worker, batch mode' : 'graphile-worker',
    serverTime: await postgresTime(pool),
    async fill(count) {
      const text =
        "select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec, json_build_object('identifier', 'none', 'payload', $1::json)) from generate_series(1, $2)))"
      await pool.query(`select count(*) from (${text}) x`, [JSON.stringify(DATA), count])
    },
    async drain(count) {
      const all = handled(count)
      await self.start()
      await all
      await self.stop()
    },
    async start() {
      runner = await run({
        ...{ pgPool: pool, logger, noHandleSignals: true, noPreparedStatements: false },
        ...(isBatched ? { preset: BATCHES } : { concurrency: CONCURRENCY }),
        taskList: { none: async () => handle() },
      })
    },
    add: () => utils.addJob('none', DATA),
    handled,
    stop: async () => runner?.stop(),
    async close() {
      await utils.release()
      await pool.end()
    },
  }
  return self
}

/**
 * With four workers that each take many jobs at a time. They are notified after each batch and each new job, so that
 * none waits for its next poll.
 */
export async function pgBossJobs({ url, pool }: BenchDatabase): Promise<JobQueue> {
  const [queue, workers, batchSize] = ['jobs', 4, CONCURRENCY]
  const boss = new PgBoss({ connectionString: url, max: 10 })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(queue)
  const { handle, handled } = counter()
  let ids: string[] = []
  let added = 0
  const self: JobQueue = {
    name: 'pg-boss, notified',
    serverTime: await postgresTime(pool),
    async fill(count) {
      for (let added = 0; added < count; added += 1000)
        await boss.insert(Array.from({ length: Math.min(1000, count - added) }, () => ({ name: queue, data: DATA })))
    },
    async drain(count) {
      const all = handled(count)
      await self.start()
      await all
      await self.stop()
    },
    async start() {
      const options = { batchSize, pollingIntervalSeconds: 0.5 }
      ids = []
      for (let worker = 0; worker < workers; worker++) {
        const id = await boss.work(queue, options, async (jobs) => {
          handle(jobs.length)
          boss.notifyWorker(ids[worker] ?? '')
        })
        ids.push(id)
      }
    },
    async add() {
      await boss.send(queue, DATA)
      boss.notifyWorker(ids[added++ % workers] ?? '')
    },
    handled,
    stop: () => boss.offWork(queue),
    async close() {
      await boss.stop({ graceful: false, close: true, wait: true })
    },
  }
  return self
}
