import fc from 'fast-check'

/** The part of a property's examples that is tried: 1 is all of them. */
const FACTOR = Number(process.env.SALLYPORT_PROPERTY_RUNS ?? 1)
/** Every property tries this many, or all if it has fewer. Mutation tests set it. */
const FEWEST = Number(process.env.FEW_RUNS ?? 10)

/** The seed of all properties. `npm run fuzz` draws a new one. */
export const SEED: number = Number(process.env.SALLYPORT_SEED ?? 20_261_125)

/** The number of examples to try: `count` in a full run, a part of it in `npm test`. */
export function runs(count: number): number {
  return Math.ceil(Math.max(Math.min(count, FEWEST), count * FACTOR))
}

/** Time-out of a test with many examples. It only ends a test that hangs. */
export const TIMEOUT_MS: number = 600_000 * Math.max(1, FACTOR)

fc.configureGlobal({ seed: SEED, numRuns: runs(100) })

/** fast-check with the seed and the number of examples of this run. Tests import it from here. */
export { fc }
