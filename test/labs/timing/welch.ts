/** Nanoseconds of two classes of input, batch by batch. */
export interface Timings {
  readonly near: number[]
  readonly far: number[]
}

/** The result of the comparison. */
export interface Finding {
  /** The crop with the t farthest from zero. */
  readonly t: number
  /** The t of all timings, without a crop. */
  readonly uncropped: number
  readonly n: number
  readonly medians: { readonly near: number; readonly far: number }
}

/** Beyond this the classes differ: the threshold of dudect and of TVLA. */
export const THRESHOLD = 4.5

/** Percentiles of the crops, closer to the top each time, as in dudect: 1 - 2^-(i/2). */
const CROPS = [...Array.from({ length: 20 }, (_, index) => 1 - 0.5 ** ((index + 1) / 2)), 1]

/**
 * Compares two classes like dudect ("dude, is my code constant time?", Reparaz, Balasch, Verbauwhede, 2017): by Welch's
 * t of all timings, and of those below several percentiles, since an interrupt lengthens a few timings by far more than
 * a comparison does.
 *
 * The timings of one batch share their secrets, so they are not independent. Welch's t is computed in each batch, and
 * the t of those values over the batches counts: without a leak it follows a normal distribution.
 */
export function compare(batches: readonly Timings[]): Finding {
  const found = batches.map(({ near, far }) => {
    const sorted = [...near, ...far].sort((one, other) => one - other)
    return CROPS.map((crop) => welch(near, far, quantile(sorted, crop)))
  })
  const ts = CROPS.map((_, crop) => overBatches(found.flatMap((batch) => batch[crop] ?? [])))
  const [near, far] = [batches.flatMap((batch) => batch.near), batches.flatMap((batch) => batch.far)]
  return {
    t: ts.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0),
    uncropped: ts.at(-1) ?? Number.NaN,
    n: near.length + far.length,
    medians: { near: median(near), far: median(far) },
  }
}

/** Minimum number of timings of a class in a batch. */
const FEWEST = 20

function welch(near: readonly number[], far: readonly number[], cutOff: number): number | undefined {
  const [one, other] = [
    moments(near.filter((value) => value <= cutOff)),
    moments(far.filter((value) => value <= cutOff)),
  ]
  const error = Math.sqrt(one.variance / one.n + other.variance / other.n)
  return Math.min(one.n, other.n) < FEWEST || error === 0 ? undefined : (one.mean - other.mean) / error
}

function overBatches(ts: readonly number[]): number {
  const { n, mean, variance } = moments(ts)
  return n < FEWEST ? 0 : mean / Math.sqrt(variance / n)
}

function moments(values: readonly number[]): { n: number; mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { n: values.length, mean, variance: squares / (values.length - 1) }
}

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((one, other) => one - other),
    0.5,
  )
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
