import { bucketOf, type Histogram, quantilesOf } from '../../../model/histogram.ts'
import type { Percentiles } from '../../../model/session.ts'

/** Cached histograms of one duration, by bucket: at most some 1600. */
const SINGLES = new Map<string, Histogram>()

/**
 * Returns the histogram of one duration.
 *
 * @param ms An integer from 0 to 2^53 - 1.
 */
export function histogramOf(ms: number): Histogram {
  const bucket = bucketOf(ms)
  const known = SINGLES.get(bucket)
  if (known) return known
  const single: Histogram = Object.freeze({ [bucket]: 1 })
  SINGLES.set(bucket, single)
  return single
}

export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  const durations = quantilesOf(histogram)
  return durations && { runs: durations.count, p50: durations.at(50), p95: durations.at(95) }
}
