import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MESSAGE_RETRIES, retryDelay } from '../../src/core/delivery/retry-schedule.ts'

describe('the schedule of messages', () => {
  it('is 8 retries over about 30 minutes', () => {
    expect(MESSAGE_RETRIES).toEqual([1_000, 5_000, 15_000, 45_000, 120_000, 240_000, 480_000, 900_000])
    expect(MESSAGE_RETRIES.reduce((sum, ms) => sum + ms, 0) / 60_000).toBeCloseTo(30.1, 1)
  })
})

describe('retryDelay', () => {
  const steps = fc.integer({ min: 0, max: 31 * 86_400_000 })
  const schedule = fc.array(steps, { maxLength: 12 }).map((given) => given.toSorted((a, b) => a - b))
  const absurd = [0, -0, -1, Number.NaN, 1e308, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE]
  const retryAfter = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom(...absurd),
    fc.integer({ min: -1_000, max: 62 * 86_400_000 }),
    fc.double(),
  )

  it('holds to its step, whatever the schedule, the delivery, the attempt and the provider', () => {
    fc.assert(
      fc.property(schedule, fc.string(), fc.integer({ min: 1, max: 15 }), retryAfter, (steps, id, attempt, asked) => {
        const delay = retryDelay(steps, attempt, id, asked)
        expect(retryDelay(steps, attempt, id, asked)).toBe(delay)
        const step = steps[attempt - 1]
        expect(delay === undefined).toBe(attempt > steps.length)
        if (delay === undefined || step === undefined) return
        const isAsked = asked !== undefined && asked >= 0
        expect(Number.isSafeInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(isAsked ? step : step * 0.8)
        expect(delay).toBeLessThanOrEqual(isAsked ? 2 * step : step * 1.2)
      }),
      { numRuns: 10_000 },
    )
  })

  it.each([
    [0, 10_000],
    [9_999.9, 10_000],
    [10_000.4, 10_000],
    [15_000.5, 15_001],
    [20_000, 20_000],
    [1e308, 20_000],
    [Number.POSITIVE_INFINITY, 20_000],
  ])('takes what the provider asks for, %d, held between one step and two: %d', (asked, delay) => {
    expect(retryDelay([10_000], 1, 'dlv_1', asked)).toBe(delay)
  })

  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])('takes no notice of a provider that asks for %s', (asked) => {
    expect(retryDelay([1_000], 1, 'dlv_1', asked)).toBe(retryDelay([1_000], 1, 'dlv_1'))
  })

  it('gives nothing after the last step', () => {
    for (const attempt of [9, 10, 1_000]) {
      expect(retryDelay(MESSAGE_RETRIES, attempt, 'dlv_1')).toBeUndefined()
      expect(retryDelay(MESSAGE_RETRIES, attempt, 'dlv_1', 5_000)).toBeUndefined()
    }
    expect(retryDelay([], 1, 'dlv_1')).toBeUndefined()
  })

  it('spreads deliveries over the whole of the fifth, evenly', () => {
    const tenths = new Array<number>(10).fill(0)
    for (let at = 0; at < 10_000; at++) {
      const delay = retryDelay([1_000_000], 1, `dlv_${at}`) ?? 0
      const tenth = Math.floor((delay - 800_000) / 40_000)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(200)
  })

  it('varies from attempt to attempt of one delivery', () => {
    const steps = new Array<number>(8).fill(1_000_000)
    expect(new Set(steps.map((_, at) => retryDelay(steps, at + 1, 'dlv_1'))).size).toBe(8)
  })
})
