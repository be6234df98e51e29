import fc from 'fast-check'

const FEW = 40

/** The same runs of a property for every mutant, and few of them. */
const assert = ((property: never, params: { readonly numRuns?: number } = {}) =>
  fc.assert(property, {
    seed: 20_261_121,
    ...params,
    numRuns: Math.min(params.numRuns ?? FEW, FEW),
  })) as typeof fc.assert

// biome-ignore lint/style/noDefaultExport: it stands in for one.
export default { ...fc, assert } as typeof fc
