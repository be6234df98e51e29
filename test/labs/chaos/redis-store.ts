import { Redis } from 'ioredis'
import { redisDocuments } from '../../../docs/examples/documents-redis.ts'
import { documentStore } from '../../../src/storage/documents/index.ts'
import type { RedisPlace } from './place.ts'
import type { PlaceStore } from './place-store.ts'

/** The store of the guide, over documents in Redis. */
export function openRedisStore({ port, name }: RedisPlace): PlaceStore {
  const redis = new Redis(port, '127.0.0.1')
  return { store: documentStore(redisDocuments(redis, name)), close: async () => redis.disconnect() }
}
