/** Numbers of durations by the lower bound of a bucket, such as `1024ms`. Plain JSON; only added and subtracted. */
export type Histogram = Readonly<Record<string, number>>

/** Up to here, every millisecond has its own bucket. */
const EXACT_MS = 64
/** Above, each power of two is split into 2^5 buckets of equal width. */
const PARTS_LOG2 = 5

/**
 * Returns the bucket of a duration, as in an HDR histogram. A bucket has the name of its lower bound, such as `1024ms`, and is at most
 * 1/32 of it wide: its middle is within 1.6 % of every duration in it.
 *
 * @param ms An integer from 0 to 2^53 - 1.
 */
export function bucketOf(ms: number): string {
  const width = widthAt(ms)
  return `${width === 1 ? ms : Math.floor(ms / width) * width}ms`
}

/** Durations of a histogram. */
export interface Quantiles {
  readonly count: number
  /** Nearest rank: the duration that `percent` of all do not exceed, within 1.6 %. */
  at(percent: number): number
}

/** `undefined`: the histogram is empty. */
export function quantilesOf(histogram: Histogram): Quantiles | undefined {
  // Subtracting can leave a negative number.
  const buckets = Object.entries(histogram)
    .map(([name, count]) => ({ least: Number.parseInt(name, 10), count }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.least - b.least)
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0)
  if (count === 0) return undefined
  return {
    count,
    at(percent) {
      let left = Math.ceil((percent * count) / 100)
      const bucket = buckets.find((each) => {
        left -= each.count
        return left <= 0
      })
      return middleOf(bucket?.least ?? 0)
    },
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
