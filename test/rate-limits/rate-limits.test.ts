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

/** Counts in memory, and records its keys. */
function counting(points = 2): FlexibleLimiter & { readonly keys: string[] } {
  const limiter = new RateLimiterMemory({ points, duration: 60 })
  const keys: string[] = []
  return {
    points,
    duration: 60,
    keys,
    consume(key, count) {
      keys.push(key)
      return limiter.consume(key, count)
    },
  }
}

describe('rateLimits', () => {
  it('rateLimits() allows as many requests as the limiter has points, and returns the rest', async () => {
    const limits = rateLimits({ token: new RateLimiterMemory({ points: 2, duration: 60 }) })
    const states = []
    for (let at = 0; at < 3; at++) states.push(await limits.consume(of('token', 'a'), 1))
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

  it('rateLimits() counts the requests of a batch together, and allows all or none of them', async () => {
    const limits = rateLimits({ token: new RateLimiterMemory({ points: 10, duration: 60 }) })
    expect(await limits.consume(of('token', 'a'), 7)).toMatchObject({ allowed: true, limit: 10, remaining: 3 })
    expect(await limits.consume(of('token', 'a'), 4)).toMatchObject({ allowed: false, limit: 10, remaining: 0 })
    expect(await limits.consume(of('token', 'b'), 10)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('rateLimits() does not limit a scope without a limiter', async () => {
    const limits = rateLimits({ tenant: counting() })
    expect(await limits.consume(of('token', 'a'), 1)).toBeUndefined()
    expect(await limits.consume(of('recipient', 'a'), 1)).toBeUndefined()
    expect(await limits.consume(of('tenant', 't1'), 1)).toMatchObject({ allowed: true })
  })

  it('rateLimits() counts scopes, tenants and ids apart in one shared limiter', async () => {
    const limiter = counting(1)
    const limits = rateLimits({ token: limiter, tenant: limiter, recipient: limiter, recipientKey: KEY })
    const subjects = (['token', 'tenant', 'recipient'] as const).flatMap((scope) =>
      ['a', 'b'].flatMap((id) => ['t1', 't2'].map((tenant) => of(scope, id, tenant))),
    )
    for (const subject of subjects) expect(await limits.consume(subject, 1)).toMatchObject({ allowed: true })
    for (const subject of subjects) expect(await limits.consume(subject, 1)).toMatchObject({ allowed: false })
    expect(new Set(limiter.keys).size).toBe(12)
  })

  it('rateLimits() gives the limiter a keyed hash instead of the recipient', async () => {
    const keysBy = async (recipientKey: string) => {
      const recipient = counting()
      const limits = rateLimits({ recipient, recipientKey })
      for (const [id, tenant] of [['ada@example.com', 't1'] as const, ['ada@example.com', 't2'] as const])
        await limits.consume(of('recipient', id, tenant), 1)
      return recipient.keys
    }
    const [first, second] = await keysBy(KEY)
    expect(first).toMatch(/^recipient t1 [0-9a-f]{64}$/)
    expect(second?.slice(-64)).not.toBe(first?.slice(-64))
    expect(await keysBy(KEY)).toEqual([first, second])
    expect(await keysBy(`${KEY}!`)).not.toContain(first)
  })

  it('rateLimits() throws the error of a limiter that cannot count', async () => {
    const fault = new Error('the limiter is down')
    const token = { points: 1, duration: 1, consume: async () => Promise.reject(fault) }
    await expect(rateLimits({ token }).consume(of('token', 'a'), 1)).rejects.toBe(fault)
    const odd = { points: 1, duration: 1, consume: async () => Promise.reject('no result') }
    await expect(rateLimits({ token: odd }).consume(of('token', 'a'), 1)).rejects.toBe('no result')
  })

  it.each<[string, object, readonly string[]]>([
    ['options without a limiter', {}, [' limits nothing; give token, tenant or recipient']],
    [
      'a limiter of another kind',
      { token: {} },
      [
        'token has no consume; pass a limiter of rate-limiter-flexible, such as new RateLimiterMemory({ points, duration })',
      ],
    ],
    [
      'a limiter without a window',
      { tenant: { ...counting(), duration: 0 } },
      ['tenant.duration is 0; must be more than 0 seconds'],
    ],
    ['a limiter without points', { tenant: { ...counting(), points: 0 } }, ['tenant.points is 0; must be 1 or more']],
    [
      'a recipient limiter without a key',
      { recipient: counting() },
      ["recipientKey must be at least 32 characters; make one with `crypto.randomBytes(32).toString('base64url')`"],
    ],
    [
      'a recipient limiter with a short key',
      { recipient: counting(), recipientKey: 'x'.repeat(31) },
      ["recipientKey must be at least 32 characters; make one with `crypto.randomBytes(32).toString('base64url')`"],
    ],
    [
      'an unknown option',
      { token: counting(), user: counting() },
      ['user is not an option; the options are: token, tenant, recipient, recipientKey'],
    ],
  ])('rateLimits() refuses %s', (_, options, reported) => {
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

  it('rateLimits() accepts a key of 32 characters, and refuses one that is no text', () => {
    const recipient = counting()
    expect(rateLimits({ recipient, recipientKey: 'x'.repeat(32) })).toHaveProperty('consume')
    const recipientKey: unknown = Array(32).fill('x')
    expect(() => rateLimits({ recipient, recipientKey } as RateLimitsOptions)).toThrow('recipientKey')
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

  it('Two processes share one limit in Redis under concurrent requests', async () => {
    const process = () =>
      rateLimits({ token: new RateLimiterRedis({ storeClient: redis, keyPrefix, points: 10, duration: 600 }) })
    const [one, other] = [process(), process()]
    const asked = Array.from({ length: 40 }, (_, at) => (at % 2 ? one : other).consume(of('token', 'a'), 1))
    const states = await Promise.all(asked)
    expect(states.filter((state) => state?.allowed)).toHaveLength(10)
    expect((await redis.keys(`${keyPrefix}:*`))[0]).toBe(`${keyPrefix}:token t1 a`)
  })
})
