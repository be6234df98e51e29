const asked = process.env.SALLYPORT_FUZZ

/** Whether `npm run fuzz` asks: for so many of everything, and for what is left on the heap. */
export const IS_WHOLE: boolean = asked !== undefined

/** How many of something hostile: what `npm run fuzz` asks for, or so many in each `npm test`. */
export function scale(everyTime: number): number {
  return Number(asked ?? everyTime)
}

/** What all that is hostile follows from. */
export const SEED: number = Number(process.env.SALLYPORT_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** How long one test of it may take. */
export const PATIENCE_MS: number = IS_WHOLE ? 3_600_000 : 120_000
