import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSallyportError } from '../../src/errors.ts'
import type { RateLimitSubject } from '../../src/ports/rate-limiter.ts'
import { type FlexibleLimiter, type RateLimitsOptions, rateLimits } from '../../src/rate-limits/index.ts'
import { serviceOrSkip } from '../queues/services.ts'

const KEY = 'a key of at least 32 characters, say'
const of = (scope: RateLimitSubject['scope'], id: string, tenant = 't1'): RateLimitSubject => ({
  scope,
  tenant,
  id,
  operation: 'dispatch',
})

/** Counts in memory, and remembers by which keys. */
function counting(points = 2): FlexibleLimiter & { readonly keys: string[] } {
  const limiter = new RateLimiterMemory({ points, duration: 60 })
  const keys: string[] = []
  return {
    points,
    duration: 60,
    keys,
    consume(key) {
      keys.push(key)
      return limiter.consume(key)
    },
  }
}

describe('rateLimits', () => {
  it('allows as many as the limiter has points, and says what is left', async () => {
    const limits = rateLimits({ token: new RateLimiterMemory({ points: 2, duration: 60 }) })
    const states = []
    for (let at = 0; at < 3; at++) states.push(await limits.consume(of('token', 'a')))
    expect(states).toMatchObject([
      { allowed: true, limit: 2, remaining: 1, windowMs: 60_000 },
      { allowed: true, limit: 2, remaining: 0, windowMs: 60_000 },
      { allowed: false, limit: 2, remaining: 0, windowMs: 60_000 },
    ])
    for (const state of states) {
      expect(state?.resetMs).toBeGreaterThan(0)
      expect(state?.resetMs).toBeLessThanOrEqual(60_000)
    }
  })

  it('does not limit what it has no limiter for', async () => {
    const limits = rateLimits({ tenant: counting() })
    expect(await limits.consume(of('token', 'a'))).toBeUndefined()
    expect(await limits.consume(of('recipient', 'a'))).toBeUndefined()
    expect(await limits.consume(of('tenant', 't1'))).toMatchObject({ allowed: true })
  })

  it('counts scopes, tenants and ids apart, though one limiter stands for all', async () => {
    const limiter = counting(1)
    const limits = rateLimits({ token: limiter, tenant: limiter, recipient: limiter, recipientKey: KEY })
    const subjects = (['token', 'tenant', 'recipient'] as const).flatMap((scope) =>
      ['a', 'b'].flatMap((id) => ['t1', 't2'].map((tenant) => of(scope, id, tenant))),
    )
    for (const subject of subjects) expect(await limits.consume(subject)).toMatchObject({ allowed: true })
    for (const subject of subjects) expect(await limits.consume(subject)).toMatchObject({ allowed: false })
    expect(new Set(limiter.keys).size).toBe(12)
  })

  it('shows the limiter no recipient, but the same hash for the same one, by a key of its own', async () => {
    const keysBy = async (recipientKey: string) => {
      const recipient = counting()
      const limits = rateLimits({ recipient, recipientKey })
      for (const [id, tenant] of [['ada@example.com', 't1'] as const, ['ada@example.com', 't2'] as const])
        await limits.consume(of('recipient', id, tenant))
      return recipient.keys
    }
    const [first, second] = await keysBy(KEY)
    expect(first).toMatch(/^recipient t1 [0-9a-f]{64}$/)
    expect(second?.slice(-64)).not.toBe(first?.slice(-64))
    expect(await keysBy(KEY)).toEqual([first, second])
    expect(await keysBy(`${KEY}!`)).not.toContain(first)
  })

  it('throws what the limiter throws, when it cannot count', async () => {
    const fault = new Error('the limiter is down')
    const token = { points: 1, duration: 1, consume: async () => Promise.reject(fault) }
    await expect(rateLimits({ token }).consume(of('token', 'a'))).rejects.toBe(fault)
    const odd = { points: 1, duration: 1, consume: async () => Promise.reject('no result') }
    await expect(rateLimits({ token: odd }).consume(of('token', 'a'))).rejects.toBe('no result')
  })

  it.each<[string, object, readonly string[]]>([
    ['nothing', {}, [' limits nothing']],
    ['no limiter', { token: {} }, ['token is not a limiter of rate-limiter-flexible']],
    ['no window', { tenant: { ...counting(), duration: 0 } }, ['tenant has no duration: its window would never end']],
    ['no points', { tenant: { ...counting(), points: 0 } }, ['tenant has no points']],
    ['no key', { recipient: counting() }, ['recipientKey must be at least 32 characters']],
    [
      'a short key',
      { recipient: counting(), recipientKey: 'x'.repeat(31) },
      ['recipientKey must be at least 32 characters'],
    ],
    [
      'what is none',
      { token: counting(), user: counting() },
      ['user is not an option; the options are: token, tenant, recipient, recipientKey'],
    ],
  ])('is told at start-up of %s', (_, options, reported) => {
    const problems = () => {
      try {
        rateLimits(options as RateLimitsOptions)
      } catch (error) {
        return (
          isSallyportError(error) && [
            error.code,
            ...(error.problems ?? []).map((one) => `${one.field ?? ''} ${one.detail}`),
          ]
        )
      }
      return []
    }
    expect(problems()).toEqual(['option_invalid', ...reported])
  })
})

const describeRedis = await serviceOrSkip('redis')

describeRedis('limits in Redis', () => {
  const keyPrefix = `sallyport-test-${randomUUID()}`
  let redis: Redis

  beforeAll(() => {
    redis = new Redis({ port: 6379 })
  })

  afterAll(async () => {
    const keys = await redis.keys(`${keyPrefix}:*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  it('hold for two processes together, however many ask at once', async () => {
    const process = () =>
      rateLimits({ token: new RateLimiterRedis({ storeClient: redis, keyPrefix, points: 10, duration: 600 }) })
    const [one, other] = [process(), process()]
    const asked = Array.from({ length: 40 }, (_, at) => (at % 2 ? one : other).consume(of('token', 'a')))
    const states = await Promise.all(asked)
    expect(states.filter((state) => state?.allowed)).toHaveLength(10)
    expect((await redis.keys(`${keyPrefix}:*`))[0]).toBe(`${keyPrefix}:token t1 a`)
  })
})
