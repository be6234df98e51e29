import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { redisDocuments } from '../../../docs/examples/documents-redis.ts'
import { serviceOrSkip } from '../../queues/services.ts'
import { tryDocuments } from './try-documents.ts'

const describe = await serviceOrSkip('redis')

describe('documentStore over the Redis adapter of the guide', () => {
  const prefix = `sallyport-documents-${process.pid}-${Date.now()}`
  const connections: Redis[] = []
  beforeAll(() => {
    connections.push(new Redis({ maxRetriesPerRequest: 1 }), new Redis({ maxRetriesPerRequest: 1 }))
  })
  afterAll(async () => {
    const [redis] = connections
    const keys = (await redis?.keys(`{${prefix}:*`)) ?? []
    if (keys.length > 0) await redis?.del(keys)
    for (const connection of connections) connection.disconnect()
  })

  let opened = 0
  tryDocuments((name) => redisDocuments(connections[opened++ % 2] as Redis, `${prefix}:${name}`))
})
