import type { Percentiles } from '../../../model/session.ts'

type Histogram = Readonly<Record<string, number>>

/** Up to here, every millisecond has its own bucket. */
const EXACT_MS = 64
/** Above, each power of two is split into 2^5 buckets of equal width. */
const PARTS_LOG2 = 5

/** Cached histograms of one duration, by bucket: at most some 1600. */
const SINGLES = new Map<number, Histogram>()

/**
 * Returns the histogram of one duration, as in an HDR histogram. A bucket has the name of its lower bound, such as `1024ms`, and is
 * at most 1/32 of it wide: its middle is within 1.6 % of every duration in it.
 *
 * @param ms An integer from 0 to 2^53 - 1.
 */
export function histogramOf(ms: number): Histogram {
  const width = widthAt(ms)
  const least = width === 1 ? ms : Math.floor(ms / width) * width
  const known = SINGLES.get(least)
  if (known) return known
  const single: Histogram = Object.freeze({ [`${least}ms`]: 1 })
  SINGLES.set(least, single)
  return single
}

export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  // Subtracting a removed run can leave a negative number.
  const buckets = Object.entries(histogram)
    .map(([name, runs]) => ({ least: Number.parseInt(name, 10), runs }))
    .filter(({ runs }) => runs > 0)
    .sort((a, b) => a.least - b.least)
  const runs = buckets.reduce((sum, bucket) => sum + bucket.runs, 0)
  return runs === 0 ? undefined : { runs, p50: percentile(50), p95: percentile(95) }

  /** Nearest rank: the duration that `percent` of the runs do not exceed. */
  function percentile(percent: number): number {
    let left = Math.ceil((percent * runs) / 100)
    const bucket = buckets.find((each) => {
      left -= each.runs
      return left <= 0
    })
    return middleOf(bucket?.least ?? 0)
  }
}

function middleOf(least: number): number {
  return least + Math.floor(widthAt(least) / 2)
}

function widthAt(ms: number): number {
  if (ms < EXACT_MS) return 1
  const log2 = ms < 2 ** 32 ? 31 - Math.clz32(ms) : 63 - Math.clz32(Math.floor(ms / 2 ** 32))
  return 2 ** (log2 - PARTS_LOG2)
}
