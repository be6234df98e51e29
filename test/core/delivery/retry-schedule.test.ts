import { describe, expect, it } from 'vitest'
import { MESSAGE_RETRIES, retryDelay } from '../../../src/core/delivery/retry-schedule.ts'
import { fc, runs } from '../../support/properties.ts'

describe('the schedule of messages', () => {
  it('The default schedule is 8 retries over about 30 minutes', () => {
    expect(MESSAGE_RETRIES).toEqual([1_000, 5_000, 15_000, 45_000, 120_000, 240_000, 480_000, 900_000])
    expect(MESSAGE_RETRIES.reduce((sum, ms) => sum + ms, 0) / 60_000).toBeCloseTo(30.1, 1)
  })
})

const FOREVER = { leftMs: Number.MAX_SAFE_INTEGER }

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

  const left = fc.oneof(fc.constant(FOREVER.leftMs), fc.integer({ min: 0, max: 31 * 86_400_000 }))
  const attempts = fc.integer({ min: 1, max: 15 })

  it('retryDelay is not before Retry-After and not after the expiry', () => {
    fc.assert(
      fc.property(schedule, fc.string(), attempts, retryAfter, left, (steps, id, attempt, asked, leftMs) => {
        const bounds = { leftMs, retryAfterMs: asked }
        const delay = retryDelay(steps, attempt, id, bounds)
        expect(retryDelay(steps, attempt, id, bounds)).toBe(delay)
        const step = steps[attempt - 1]
        expect(delay === undefined || step !== undefined).toBe(true)
        if (step === undefined) return
        const least = Math.max(Math.ceil(step * 0.8), asked !== undefined && asked > 0 ? Math.ceil(asked) : 0)
        if (delay === undefined) return void expect(least).toBeGreaterThanOrEqual(leftMs)
        expect(Number.isSafeInteger(delay)).toBe(true)
        expect(delay).toBeLessThan(leftMs)
        expect(delay).toBeGreaterThanOrEqual(least)
        expect(delay).toBeLessThanOrEqual(least + step * 0.4)
      }),
      { numRuns: runs(10_000) },
    )
  })

  it('retryDelay honours a Retry-After of an hour in full', () => {
    const delay = retryDelay([1_000], 1, 'dlv_1', { ...FOREVER, retryAfterMs: 3_600_000 })
    expect(delay).toBeGreaterThanOrEqual(3_600_000)
    expect(delay).toBeLessThanOrEqual(3_600_400)
  })

  it('retryDelay leaves out the jitter where it alone would pass the expiry', () => {
    const bounds = { leftMs: 3_600_001, retryAfterMs: 3_600_000 }
    for (let at = 0; at < 100; at++) expect(retryDelay([900_000], 1, `dlv_${at}`, bounds)).toBe(3_600_000)
  })

  it.each([
    ['as long as the expiry', 60_000],
    ['longer than any expiry', 1e308],
    ['infinite', Number.POSITIVE_INFINITY],
  ])('retryDelay is undefined when Retry-After is %s', (_what, asked) => {
    expect(retryDelay([1_000], 1, 'dlv_1', { leftMs: 60_000, retryAfterMs: asked })).toBeUndefined()
  })

  it('Deliveries with the same Retry-After are spread by jitter', () => {
    const bounds = { ...FOREVER, retryAfterMs: 60_000 }
    const delays = Array.from({ length: 100 }, (_, at) => retryDelay([5_000], 1, `dlv_${at}`, bounds))
    expect(new Set(delays).size).toBeGreaterThan(80)
  })

  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])('A Retry-After of %s is ignored', (asked) => {
    expect(retryDelay([1_000], 1, 'dlv_1', { ...FOREVER, retryAfterMs: asked })).toBe(
      retryDelay([1_000], 1, 'dlv_1', FOREVER),
    )
  })

  it('retryDelay is undefined after the last step', () => {
    for (const attempt of [9, 10, 1_000]) {
      expect(retryDelay(MESSAGE_RETRIES, attempt, 'dlv_1', FOREVER)).toBeUndefined()
      expect(retryDelay(MESSAGE_RETRIES, attempt, 'dlv_1', { ...FOREVER, retryAfterMs: 5_000 })).toBeUndefined()
    }
    expect(retryDelay([], 1, 'dlv_1', FOREVER)).toBeUndefined()
  })

  it('The jitter is spread evenly over its 20 %', () => {
    const tenths = new Array<number>(10).fill(0)
    for (let at = 0; at < 10_000; at++) {
      const delay = retryDelay([1_000_000], 1, `dlv_${at}`, FOREVER) ?? 0
      const tenth = Math.floor((delay - 800_000) / 40_000)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(200)
  })

  it('The jitter differs between attempts of one delivery', () => {
    const steps = new Array<number>(8).fill(1_000_000)
    expect(new Set(steps.map((_, at) => retryDelay(steps, at + 1, 'dlv_1', FOREVER))).size).toBe(8)
  })
})
