const asked = process.env.SALLYPORT_FUZZ

/** Whether `npm run fuzz` runs: sets the number of runs and measures the heap. */
export const IS_WHOLE: boolean = asked !== undefined

/** Number of runs: as `npm run fuzz` asks, or `everyTime` in `npm test`. */
export function scale(everyTime: number): number {
  return Number(asked ?? everyTime)
}

/** Seed of all random input. */
export const SEED: number = Number(process.env.SALLYPORT_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** Time limit of one test. */
export const PATIENCE_MS: number = IS_WHOLE ? 3_600_000 : 120_000
