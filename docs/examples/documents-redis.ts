import type { Redis } from 'ioredis'
import type { Documents } from 'sallyport/storage/documents'

const COMMIT = `
  for i = 1, #ARGV, 3 do
    if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 0 end
  end
  for i = 1, #ARGV, 3 do
    if ARGV[i+2] == '' then
      redis.call('HDEL', KEYS[1], ARGV[i])
      redis.call('ZREM', KEYS[2], ARGV[i])
    elseif ARGV[i+2] ~= ARGV[i+1] then
      redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+2])
      redis.call('ZADD', KEYS[2], 0, ARGV[i])
    end
  end
  return 1`

const LIST = `
  local keys = redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
  if #keys == 0 then return { {}, {} } end
  return { keys, redis.call('HMGET', KEYS[1], unpack(keys)) }`

/** Documents in Redis: a hash of texts, and a sorted set of their keys. Any number of processes may share them. */
export function redisDocuments(redis: Redis, name = 'sallyport'): Documents {
  const keys = [`{${name}}:texts`, `{${name}}:keys`] as const
  return {
    async now() {
      const [seconds, microseconds] = await redis.time()
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
    },

    get: async (key) => (await redis.hget(keys[0], key)) ?? undefined,

    async list(prefix, { after, limit, reverse = false }) {
      const [from, to] = [`[${prefix}`, `(${prefix}~`]
      const range = reverse
        ? ['ZREVRANGEBYLEX', after === undefined ? to : `(${after}`, from]
        : ['ZRANGEBYLEX', after === undefined ? from : `(${after}`, to]
      const [found, texts] = (await redis.eval(LIST, 2, ...keys, ...range, limit)) as [string[], string[]]
      return found.map((key, at) => ({ key, text: texts[at] ?? '' }))
    },

    async commit(changes) {
      const parameters = changes.flatMap(({ key, before = '', after = '' }) => [key, before, after])
      return (await redis.eval(COMMIT, 2, ...keys, ...parameters)) === 1
    },
  }
}
