import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MESSAGE_RETRIES, retryDelay } from '../../src/core/dispatch/retry-schedule.ts'

describe('the schedule of messages', () => {
  it('is 8 retries over about 30 minutes', () => {
    expect(MESSAGE_RETRIES).toEqual([1_000, 5_000, 15_000, 45_000, 120_000, 240_000, 480_000, 900_000])
    expect(MESSAGE_RETRIES.reduce((sum, ms) => sum + ms, 0) / 60_000).toBeCloseTo(30.1, 1)
  })
})

describe('retryDelay', () => {
  const schedule = fc.array(fc.integer({ min: 0, max: 86_400_000 }), { minLength: 1, maxLength: 12 })

  it('stays within a fifth of the step, for every schedule, delivery and attempt', () => {
    fc.assert(
      fc.property(schedule, fc.string(), fc.nat(), (steps, id, at) => {
        const attempt = (at % steps.length) + 1
        const step = steps[attempt - 1] ?? 0
        const delay = retryDelay(steps, attempt, id) ?? -1
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(step * 0.8))
        expect(delay).toBeLessThanOrEqual(Math.ceil(step * 1.2))
        expect(retryDelay(steps, attempt, id)).toBe(delay)
      }),
      { numRuns: 10_000 },
    )
  })

  it('takes what the provider asks for, held between one step and two', () => {
    const asked = fc.oneof(fc.double({ noNaN: true, min: 0 }), fc.integer({ min: 0, max: 200_000_000 }))
    fc.assert(
      fc.property(schedule, fc.string(), fc.nat(), asked, (steps, id, at, retryAfter) => {
        const attempt = (at % steps.length) + 1
        const step = steps[attempt - 1] ?? 0
        const delay = retryDelay(steps, attempt, id, retryAfter) ?? -1
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBe(Math.round(retryAfter < step ? step : retryAfter > 2 * step ? 2 * step : retryAfter))
      }),
      { numRuns: 10_000 },
    )
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
