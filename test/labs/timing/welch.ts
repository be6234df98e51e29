/** Nanoseconds that each of two classes of input took, batch by batch. */
export interface Timings {
  readonly near: number[]
  readonly far: number[]
}

/** What the timings say. */
export interface Finding {
  /** Of all crops, the one farthest from zero. */
  readonly t: number
  /** Of all timings, none cropped. */
  readonly uncropped: number
  readonly n: number
  readonly medians: { readonly near: number; readonly far: number }
}

/** Beyond this the classes differ: dudect's threshold, and TVLA's before it. */
export const THRESHOLD = 4.5

/** Up to which percentiles timings are kept, ever closer to the top, as dudect has them: 1 - 2^-(i/2). */
const CROPS = [...Array.from({ length: 20 }, (_, index) => 1 - 0.5 ** ((index + 1) / 2)), 1]

/**
 * Compares two classes as dudect does ("dude, is my code constant time?", Reparaz, Balasch, Verbauwhede, 2017): by Welch's t of all
 * timings, and of those below each of several percentiles, since what interrupts a process lengthens a few timings by far more
 * than any comparison does.
 *
 * The timings of one batch have their secrets in common, so they are not independent. Welch's t is taken in each batch, and
 * the t of those over the batches is what counts: with no leak it is of a normal distribution, whatever a batch had of its own.
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

/** Below so few timings of a class in a batch nothing is said. */
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
