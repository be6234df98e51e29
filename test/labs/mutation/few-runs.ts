import fc from 'fast-check'

export * from 'fast-check'

/** `FEW_RUNS=400` for rules that need many examples. */
const FEW = Number(process.env.FEW_RUNS ?? 40)

/** Checks a property with few examples, the same for every mutant. */
export const assert = ((property: never, params: { readonly numRuns?: number } = {}) =>
  fc.assert(property, {
    seed: 20_261_121,
    ...params,
    numRuns: Math.min(params.numRuns ?? FEW, FEW),
  })) as typeof fc.assert

// biome-ignore lint/style/noDefaultExport: it replaces the default export of fast-check.
export default { ...fc, assert } as typeof fc
