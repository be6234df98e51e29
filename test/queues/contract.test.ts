import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'
import { beforeAll, describe, it } from 'vitest'
import { queueContract } from '../../src/contract-tests/queue-contract.ts'
import type { QueueTrial } from '../../src/contract-tests/queue-trial.ts'
import { bullmqQueue } from '../../src/queues/bullmq.ts'
import { postgresQueue } from '../../src/queues/postgres.ts'
import { recordingLogger } from '../support/deps.ts'
import { postgresAt } from '../support/postgres-server.ts'
import { postgresPort } from '../support/shared-postgres.ts'
import { countWakes } from './listener.ts'
import { silentProxy } from './proxy.ts'
import { serviceOrSkip } from './services.ts'

const REDIS_PORT = 6379

/** A queue contract on real time. The time limit of a test ends a wait. */
const running: Pick<QueueTrial, 'now' | 'until'> = {
  now: Date.now,
  async until(condition) {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve))
  },
}

const contract = { test: it, skip: it.skip, capabilities: { injectedTime: false, notices: true } }

describe('the PostgreSQL queue keeps the queue contract', () => {
  let port: number

  beforeAll(async () => {
    port = await postgresPort()
  })

  async function create(): Promise<QueueTrial> {
    const proxy = await silentProxy(port)
    const channel = `due_${randomUUID().replaceAll('-', '')}`
    const make = () =>
      postgresQueue({ client: () => new pg.Client(postgresAt(proxy.port)), channel, logger: recordingLogger() })
    const [queue, other] = [make(), make()]
    // Other processes wake only a queue that is connected; the cases start after that.
    const listeners = [countWakes(queue), countWakes(other)]
    await Promise.all(listeners.map((one) => one.reported(1)))
    for (const one of listeners) one.stop()
    return {
      ...{ queue, other, ...running },
      disconnect: () => proxy.close(),
      async close() {
        await Promise.all([queue.close(), other.close()])
        await proxy.close()
      },
    }
  }

  queueContract({ ...contract, create })
})

const describeRedis = await serviceOrSkip('redis')

describeRedis('the BullMQ queue keeps the queue contract', () => {
  async function create(): Promise<QueueTrial> {
    const proxy = await silentProxy(REDIS_PORT)
    const prefix = `sallyport-test-${randomUUID()}`
    const connection = { host: '127.0.0.1', port: proxy.port }
    const make = () => bullmqQueue({ connection, prefix, logger: recordingLogger() })
    const [queue, other] = [make(), make()]
    return {
      ...{ queue, other, ...running },
      disconnect: () => proxy.close(),
      async close() {
        await Promise.all([queue.close(), other.close()])
        await proxy.close()
        const redis = new Redis({ port: REDIS_PORT })
        const keys = await redis.keys(`${prefix}:*`)
        if (keys.length > 0) await redis.del(keys)
        redis.disconnect()
      },
    }
  }

  queueContract({ ...contract, create })
})
