import { runs, TIMEOUT_MS } from '../../support/properties.ts'

const asked = process.env.SALLYPORT_FUZZ

/** Whether `npm run fuzz` runs: sets the number of runs and measures the heap. */
export const IS_WHOLE: boolean = asked !== undefined

/** Number of runs: as `npm run fuzz` asks, else `runs(everyTime)`. */
export function scale(everyTime: number): number {
  return Number(asked ?? runs(everyTime))
}

/** Time-out of one test. It only ends a test that hangs. */
export const PATIENCE_MS: number = IS_WHOLE ? 3_600_000 : TIMEOUT_MS
