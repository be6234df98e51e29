import { describe, expect, it } from 'vitest'
import { type CardinalityLimits, capCardinality } from '../../../../src/core/runs/sessions/cardinality.ts'
import { noTotals, type SourceTotals, type Totals } from '../../../../src/model/totals.ts'

const LIMITS: CardinalityLimits = { models: 2, counters: 2, modelCounters: 2, users: 2 }

const countsOf = (...names: readonly string[]): SourceTotals => ({
  ...noTotals(),
  counts: Object.fromEntries(names.map((name) => [name, 1])),
})

describe('names in the sums of two sources', () => {
  const both = (application: SourceTotals, agent: SourceTotals): Totals => ({ ...application, agent })

  it('An addition within the limits of both sources stays as it is', () => {
    const add = both(countsOf('a', 'b'), countsOf('c', 'd'))
    expect(capCardinality(undefined, add, LIMITS)).toBe(add)
    expect(capCardinality(both(countsOf('a'), countsOf('d')), add, LIMITS)).toBe(add)
  })

  it('Names of agents take no space of applications, and are dropped by themselves', () => {
    const sum = both(countsOf('a'), countsOf('x', 'y'))
    const capped = capCardinality(sum, both(countsOf('b'), countsOf('x', 'z')), LIMITS)
    expect(capped).toEqual(both(countsOf('b'), countsOf('x')))
  })

  it('Names of applications are dropped without those of agents', () => {
    const sum = both(countsOf('a', 'b'), countsOf('x'))
    const capped = capCardinality(sum, both(countsOf('c'), countsOf('y')), LIMITS)
    expect(capped).toEqual(both(countsOf(), countsOf('y')))
  })

  it('An addition without an agent has none afterwards', () => {
    const sum = both(countsOf('a', 'b'), countsOf('x'))
    expect(capCardinality(sum, countsOf('c'), LIMITS)).toEqual(countsOf())
  })
})
