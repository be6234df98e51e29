import { describe, expect, it } from 'vitest'
import { histogramOf, percentilesOf } from '../../../../src/core/runs/sessions/percentiles.ts'
import { addNumbers, noTotals } from '../../../../src/model/totals.ts'
import { fc, runs } from '../../../support/properties.ts'

const MAX = Number.MAX_SAFE_INTEGER
const MOST = 0.016

/** Durations of any size: short ones as often as long ones. */
const duration = fc
  .tuple(fc.nat(53), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([power, part]) => Math.min(Math.floor(2 ** power * (1 + part)) - 1, MAX))

function percentilesOver(durations: readonly number[]): ReturnType<typeof percentilesOf> {
  const { durations: sum } = noTotals()
  for (const ms of durations) addNumbers(sum, histogramOf(ms))
  return percentilesOf(sum)
}

function nearestRank(durations: readonly number[], percent: number): number {
  const sorted = [...durations].sort((a, b) => a - b)
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? Number.NaN
}

describe('percentiles of durations', () => {
  it('Percentiles are within 1.6 % of the exact ones, by nearest rank', () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 60 }), (durations) => {
        const spread = percentilesOver(durations)
        expect(spread?.runs).toBe(durations.length)
        for (const [shown, percent] of [
          [spread?.p50, 50],
          [spread?.p95, 95],
        ] as const) {
          const exact = nearestRank(durations, percent)
          expect(Number.isInteger(shown)).toBe(true)
          expect(Math.abs((shown ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * MOST)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('Percentiles are within 1.6 % at both ends of every power of two', () => {
    for (let power = 0; power <= 53; power++)
      for (const ms of [2 ** power - 1, 2 ** power, 2 ** power + 1]) {
        if (ms > MAX) continue
        const shown = percentilesOver([ms])?.p50 ?? Number.NaN
        expect(Math.abs(shown - ms)).toBeLessThanOrEqual(ms * MOST)
      }
  })

  it('Percentiles are exact below 64 ms', () => {
    for (let ms = 0; ms < 64; ms++) expect(percentilesOver([ms])).toEqual({ runs: 1, p50: ms, p95: ms })
  })

  it('Buckets are ordered by duration, not by name', () => {
    expect(percentilesOver([63, 10, 9, 8, 7])).toEqual({ runs: 5, p50: 9, p95: 63 })
    expect(percentilesOver([300_000, 20_000, 1000])).toEqual({ runs: 3, p50: 20_224, p95: 299_008 })
  })

  it('p95 of 20 is the 19th, and p50 of two is the first', () => {
    expect(percentilesOver(Array.from({ length: 20 }, (_, ms) => ms + 1))).toEqual({ runs: 20, p50: 10, p95: 19 })
    expect(percentilesOver([1, 2])).toEqual({ runs: 2, p50: 1, p95: 2 })
  })

  it('A histogram has 64 buckets, then 32 for every power of two', () => {
    const names = new Set(Object.keys(histogramOf(0)))
    for (let power = 0; power < 53; power++)
      for (let part = 0; part < 64; part++)
        names.add(Object.keys(histogramOf(Math.floor(2 ** power * (1 + part / 64)))).join())
    expect(names.size).toBe(64 + 32 * (53 - 6))
    expect(Object.keys(histogramOf(1055))).toEqual(['1024ms'])
    expect(Object.keys(histogramOf(1056))).toEqual(['1056ms'])
  })

  it('An empty histogram has no percentiles, and subtracted runs do not count', () => {
    expect(percentilesOf({})).toBeUndefined()
    expect(percentilesOf({ '5ms': 0, '7ms': -1 })).toBeUndefined()
    expect(percentilesOf({ '5ms': -3, '7ms': 2 })).toEqual({ runs: 2, p50: 7, p95: 7 })
  })
})
