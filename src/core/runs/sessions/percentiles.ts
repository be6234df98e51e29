import type { Percentiles } from '../../../model/session.ts'

type Histogram = Readonly<Record<string, number>>

/** Below it, every millisecond is a bucket of its own. */
const EXACT_MS = 64
/** From there on, so many buckets have the width of each other: from one power of two to the next. */
const PARTS_LOG2 = 5

/** Buckets that a duration fell into: there can be some 1600. */
const SINGLES = new Map<number, Histogram>()

/**
 * The histogram of one duration. Its bucket is named after the least duration in it, such as `1024ms`, and is at most 1/32
 * as wide as that is long, as in an HDR histogram: its middle is within 1.6 % of all that is in it.
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

/** How the runs of a histogram are spread; `undefined` when there are none. */
export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  // Taking away what was added by a run that is forgotten can leave less than nothing.
  const buckets = Object.entries(histogram)
    .map(([name, runs]) => ({ least: Number.parseInt(name, 10), runs }))
    .filter(({ runs }) => runs > 0)
    .sort((a, b) => a.least - b.least)
  const runs = buckets.reduce((sum, bucket) => sum + bucket.runs, 0)
  return runs === 0 ? undefined : { runs, p50: percentile(50), p95: percentile(95) }

  /** By nearest rank: the duration that so many percent of the runs do not exceed. */
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

/** How wide the bucket of a duration is. */
function widthAt(ms: number): number {
  if (ms < EXACT_MS) return 1
  const log2 = ms < 2 ** 32 ? 31 - Math.clz32(ms) : 63 - Math.clz32(Math.floor(ms / 2 ** 32))
  return 2 ** (log2 - PARTS_LOG2)
}
