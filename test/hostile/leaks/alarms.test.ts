import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, it } from 'vitest'
import { bullmqQueue } from '../../../src/queues/bullmq.ts'
import { type NotificationClient, postgresQueue } from '../../../src/queues/postgres.ts'
import { rateLimits } from '../../../src/rate-limits/index.ts'
import { queueListener } from '../../queues/listener.ts'
import { serviceOrSkip } from '../../queues/services.ts'
import { openTestApp, type TestApp } from './test-app.ts'
import { throughTime } from './through-time.ts'

const withRedis = await serviceOrSkip('redis')

/** Posts immediate and later dispatches of all kinds, and a run. */
async function keepBusy(app: TestApp): Promise<void> {
  const { canaries, post, sallyport } = app
  for (const eventType of ['reported', 'digested', 'first']) {
    const body = {
      eventType,
      recipient: `u-${canaries.word('recipient as sent')}`,
      sessionId: canaries.word('session id'),
      eventData: { note: canaries.word('event data') },
    }
    await post('dispatch', { body, headers: { 'idempotency-key': canaries.word('idempotency key') } })
  }
  const eventData = { note: canaries.word('event data') }
  await post('dispatch', {
    token: app.sessionToken,
    body: { eventType: 'order', recipient: `u-${app.userId}`, eventData },
  })
  await post('session_run', { body: { sessionId: canaries.word('session id'), run: { runId: 'r', status: 'failed' } } })
  await throughTime(app, sallyport.worker.runDue())
}

withRedis('wakes through Redis', () => {
  it('The jobs in Redis hold no data of their dispatches', async () => {
    const redis = new Redis({ port: 6379 })
    const prefix = `leaks-${randomUUID()}`
    const queue = bullmqQueue({ connection: { port: 6379 }, prefix })
    queue.listen(queueListener())
    const app = await openTestApp({ rest: { queue } })
    await keepBusy(app)
    await queue.close()
    const keys = await redis.keys(`${prefix}:*`)
    expect(keys.length).toBeGreaterThan(2)
    for (const found of keys) app.collected.keep('alarm', [found, await contentOf(redis, found)])
    await redis.del(keys)
    redis.disconnect()
  })
})

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return redis.hgetall(key)
    case 'stream':
      return redis.xrange(key, '-', '+')
    case 'zset':
      return redis.zrange(key, '0', '-1')
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    default:
      return redis.get(key)
  }
}

it('The notifications of PostgreSQL hold no data of their dispatches', async () => {
  const said: unknown[] = []
  const client: NotificationClient = {
    connect: async () => {},
    query: async (...args) => void said.push(args),
    on() {},
    end: async () => {},
  }
  const queue = postgresQueue({ client: () => client })
  queue.listen(queueListener())
  const app = await openTestApp({ rest: { queue } })
  await keepBusy(app)
  await queue.close()
  expect(JSON.stringify(said)).toContain('notify')
  app.collected.keep('alarm', said)
})

it('A rate limiter gets irreversible keys for recipients', async () => {
  const keys: string[] = []
  const limiter = new RateLimiterMemory({ points: 3, duration: 60 })
  const { consume } = limiter
  limiter.consume = (key, ...rest) => {
    keys.push(String(key))
    return consume.call(limiter, key, ...rest)
  }
  const rateLimiter = rateLimits({ token: limiter, tenant: limiter, recipient: limiter, recipientKey: randomUUID() })
  const app = await openTestApp({ rest: { rateLimiter } })
  await keepBusy(app)
  expect(keys.filter((key) => key.startsWith('recipient '))).not.toEqual([])
  app.collected.keep('limiter', keys)
  expect(app.collected.seen).toContain('id of a token: limiter')
})
