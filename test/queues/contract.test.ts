import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type QueueTrial, queueContract } from '../../src/contract-tests/queue-contract.ts'
import { bullmqQueue } from '../../src/queues/bullmq.ts'
import { postgresQueue } from '../../src/queues/postgres.ts'
import { recordingLogger } from '../support/deps.ts'
import { ear } from './listener.ts'
import { type PostgresServer, postgresServer } from './postgres-server.ts'
import { silentProxy } from './proxy.ts'
import { serviceOrSkip } from './services.ts'

const REDIS_PORT = 6379

/** Far longer than anything takes. */
const CAP_MS = 20_000

/** Time goes on by itself. */
const running: Pick<QueueTrial, 'now' | 'until'> = {
  now: Date.now,
  async until(condition) {
    const end = performance.now() + CAP_MS
    while (!condition()) {
      if (performance.now() > end) throw new Error('it did not come about')
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
}

const contract = { test: it, skip: it.skip, capabilities: { injectedTime: false } }

describe('the queue over PostgreSQL keeps the contract of queues', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await postgresServer()
  })

  afterAll(() => server.remove())

  async function create(): Promise<QueueTrial> {
    const proxy = await silentProxy(server.port)
    const channel = `due_${randomUUID().replaceAll('-', '')}`
    const make = () => postgresQueue({ client: () => server.client(proxy.port), channel, logger: recordingLogger() })
    const [queue, other] = [make(), make()]
    // Who begins to hear rings once: the cases are about what comes after.
    const ears = [ear(queue), ear(other)]
    await Promise.all(ears.map((one) => one.touched(1)))
    for (const one of ears) one.stop()
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

describeRedis('the queue over BullMQ keeps the contract of queues', () => {
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
