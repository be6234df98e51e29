import { describe, expect, it } from 'vitest'
import {
  type CardinalityLimits,
  capCardinality,
  DESCENDANT_LIMITS,
  SESSION_LIMITS,
} from '../../../../src/core/runs/sessions/cardinality.ts'
import {
  addSpend,
  addTotals,
  minusTotals,
  noSpend,
  noTotals,
  type Spend,
  type Totals,
} from '../../../../src/model/totals.ts'
import { fc, runs } from '../../../support/properties.ts'
import { flatSums, withoutZeros } from './roll-up-oracle.ts'

const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString', '7')
const number = fc.integer({ min: -5, max: 5 })
const numbers = fc.dictionary(name, number, { maxKeys: 3 })
const money = fc.dictionary(name, fc.constantFrom('0.1', '-0.2', '3', '0', '0.000000001'), { maxKeys: 2 })
const spend: fc.Arbitrary<Spend> = fc.record({
  runs: number,
  tokens: number,
  cost: money,
  unpricedRuns: number,
  unpricedTokens: number,
})
const model = fc.record({ runs: number, counts: numbers, cost: money })
const totals: fc.Arbitrary<Totals> = fc.record({
  spend,
  byStatus: fc.dictionary(fc.constantFrom('running', 'failed'), number),
  counts: numbers,
  models: fc.dictionary(name, fc.dictionary(name, model, { maxKeys: 2 }), { maxKeys: 2 }),
  time: numbers,
  durations: numbers,
  firstTokens: numbers,
  users: fc.dictionary(name, spend, { maxKeys: 2 }),
})

function sumOf(...totalsChanges: readonly Totals[]): Totals {
  const sum = noTotals()
  for (const each of totalsChanges) addTotals(sum, each)
  return sum
}

function namesOf(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `n${from + index}`)
}

const byName = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map((each) => [each, value]))

const ofModels = (names: readonly string[], runs = 1): Totals => ({
  ...noTotals(),
  models: { p: byName(names, { runs, counts: { steps: 2 * runs }, cost: { EUR: `${runs}` } }) },
})

/** Adds as a merge and a store do: capped. */
function add(sum: Totals, more: Totals, places: CardinalityLimits = SESSION_LIMITS): void {
  addTotals(sum, capCardinality(sum, more, places))
}

describe('totals', () => {
  it('Totals add up to the same in any order with any names', () => {
    fc.assert(
      fc.property(totals, totals, (a, b) => {
        expect(flatSums(sumOf(a, b))).toEqual(flatSums(sumOf(b, a)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('Totals that are added and subtracted leave nothing', () => {
    fc.assert(
      fc.property(totals, totals, (a, b) => {
        const change = minusTotals(b, a)
        const after = sumOf(a, ...(change ? [change] : []))
        expect(withoutZeros(flatSums(after))).toEqual(
          withoutZeros({ ...flatSums(sumOf(a, b)), ...zeros(a), ...flatSums(b) }),
        )
        expect(minusTotals(a, structuredClone(a))).toBeUndefined()
      }),
      { numRuns: runs(300) },
    )
  })

  it('Totals add up to the same after JSON', () => {
    fc.assert(
      fc.property(totals, totals, (a, b) => {
        const read = sumOf(JSON.parse(JSON.stringify(sumOf(a))))
        addTotals(read, b)
        expect(flatSums(read)).toEqual(flatSums(sumOf(a, b)))
      }),
      { numRuns: runs(300) },
    )
  })

  it('Totals keep money exact', () => {
    const sum = noSpend()
    for (let i = 0; i < 10; i++) addSpend(sum, { ...noSpend(), cost: { EUR: '0.1', USD: '0.000000001' } })
    addSpend(sum, { ...noSpend(), cost: { EUR: '99999999999999999999.9' } })
    expect(sum.cost).toEqual({ EUR: '100000000000000000000.9', USD: '0.00000001' })
  })

  it('Totals keep a reported count of 0', () => {
    const reported = { ...noTotals(), counts: { toolErrors: 0 } }
    expect(minusTotals(reported, noTotals())?.counts).toEqual({ toolErrors: 0 })
    expect(minusTotals(reported, reported)).toBeUndefined()
  })

  it('addTotals does not change its addition', () => {
    fc.assert(
      fc.property(totals, totals, (a, b) => {
        const [first, second] = [structuredClone(a), structuredClone(b)]
        sumOf(a, b, a)
        expect([a, b]).toEqual([first, second])
      }),
      { numRuns: runs(100) },
    )
  })
})

function zeros(of: Totals): Record<string, bigint> {
  return Object.fromEntries(Object.keys(flatSums(of)).map((path) => [path, 0n]))
}

describe('capCardinality', () => {
  it('A session keeps 200 models and counts more of them as one', () => {
    const sum = noTotals()
    for (const each of namesOf(205)) add(sum, ofModels([each]))
    expect(Object.keys(sum.models.p ?? {})).toHaveLength(200)
    expect(sum.models['']).toEqual({ '(other)': { runs: 5, counts: { steps: 10 }, cost: { EUR: '5' } } })
  })

  it('The cap is the same when all models come at once', () => {
    const sum = noTotals()
    add(sum, ofModels(namesOf(150)))
    add(sum, ofModels(namesOf(100, 120)))
    expect(Object.keys(sum.models.p ?? {})).toEqual(namesOf(200))
    expect(sum.models.p?.n120?.runs).toBe(2)
    expect(sum.models['']?.['(other)']?.runs).toBe(20)
  })

  it('A capped name is subtracted where it was added, and never gets room again', () => {
    const sum = noTotals()
    add(sum, ofModels(namesOf(201)))
    add(sum, ofModels(['n0'], -1))
    add(sum, ofModels(['n200'], -1))
    expect(sum.models.p?.n0).toEqual({ runs: 0, counts: { steps: 0 }, cost: { EUR: '0' } })
    expect(sum.models['']?.['(other)']).toEqual({ runs: 0, counts: { steps: 0 }, cost: { EUR: '0' } })
    add(sum, ofModels(['n200']))
    expect(sum.models.p?.n200).toBeUndefined()
  })

  it('Descendants keep 32 models', () => {
    const sum = noTotals()
    for (const each of namesOf(35)) add(sum, ofModels([each]), DESCENDANT_LIMITS)
    expect(Object.keys(sum.models.p ?? {})).toHaveLength(32)
    expect(sum.models['']?.['(other)']?.runs).toBe(3)
  })

  it.each([
    ['session', SESSION_LIMITS, 256, 0],
    ['run', DESCENDANT_LIMITS, 64, 256],
  ])('Counters and users over the cap are dropped: a %s', (_, places, counters, users) => {
    const sum = noTotals()
    for (const from of [0, 100, 200])
      add(
        sum,
        {
          ...noTotals(),
          counts: byName(namesOf(100, from), 1),
          users: byName(namesOf(100, from), { ...noSpend(), runs: 1 }),
        },
        places,
      )
    add(sum, { ...noTotals(), counts: { n0: 1, n299: 1 }, users: { n0: { ...noSpend(), runs: 1 } } }, places)
    expect(Object.keys(sum.counts)).toEqual(namesOf(counters))
    expect(sum.counts.n0).toBe(2)
    expect(Object.keys(sum.users)).toEqual(namesOf(users))
    expect(sum.users.n0?.runs).toBe(users > 0 ? 2 : undefined)
  })

  it('Known counts have no cap and use no room', () => {
    const known = { inputTokens: 1, outputTokens: 2, steps: 3, messages: 4 }
    const late = noTotals()
    add(late, { ...noTotals(), counts: byName(namesOf(300), 1) })
    add(late, { ...noTotals(), counts: { more: 1, ...known } })
    expect(late.counts).toEqual({ ...byName(namesOf(256), 1), ...known })
    const others = { ...noTotals(), counts: { n0: 1, toolCalls: 1 } }
    expect(capCardinality(late, others, SESSION_LIMITS)).toBe(others)
    const early = noTotals()
    add(early, { ...noTotals(), counts: known })
    add(early, { ...noTotals(), counts: { ...byName(namesOf(256), 1), ...known, more: 1 } })
    expect(Object.keys(early.counts)).toEqual([...Object.keys(known), ...namesOf(256)])
  })

  it('An addition that fits is given as it came', () => {
    const sum = noTotals()
    const more = ofModels(['a', 'b'])
    expect(capCardinality(undefined, more, SESSION_LIMITS)).toBe(more)
    add(sum, ofModels(namesOf(198)))
    expect(capCardinality(sum, more, SESSION_LIMITS)).toBe(more)
  })

  it('capCardinality does not change its arguments', () => {
    const sum = noTotals()
    add(sum, ofModels(namesOf(200)))
    const [before, more] = [structuredClone(sum), { ...ofModels(['x', 'y']), counts: byName(namesOf(300), 1) }]
    const reported = structuredClone(more)
    const fitting = capCardinality(sum, more, SESSION_LIMITS)
    expect(structuredClone(more)).toEqual(reported)
    expect(Object.keys(fitting.counts)).toEqual(namesOf(256))
    expect(structuredClone(sum)).toEqual(before)
    expect(fitting.models).toEqual({ '': { '(other)': { runs: 2, counts: { steps: 4 }, cost: { EUR: '2' } } } })
  })
})
