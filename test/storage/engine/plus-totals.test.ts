import { describe, expect, it } from 'vitest'
import { fullTotals, HOSTILE_NAMES, spendOf, totalsOf } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import { addSpend, addTotals, noSpend, noTotals, type Totals } from '../../../src/model/totals.ts'
import { plusSpend, plusTotals, withoutUser } from '../../../src/storage/engine/runs/plus-totals.ts'

const { agent: _, ...OF_APPLICATION } = fullTotals('a', 1, '0.1')

const ADDENDS: readonly Totals[] = [
  noTotals(),
  OF_APPLICATION,
  totalsOf({ byStatus: { failed: 1 } }),
  totalsOf({ spend: spendOf({ tokens: 7, cost: { USD: '0.2', EUR: '1' } }) }),
  ...HOSTILE_NAMES.map((name, at) => fullTotals(name, at - 3, '-2.25')),
  ...HOSTILE_NAMES.map((name) => fullTotals(name, 3, '0.1')),
]

describe('plusTotals', () => {
  it('Gives what addTotals gives, and changes neither of its arguments', () => {
    const sum = noTotals()
    let result = noTotals()
    for (const add of ADDENDS) {
      const copies = structuredClone([result, add])
      const next = plusTotals(result, add)
      expect(structuredClone([result, add])).toEqual(copies)
      addTotals(sum, add)
      expect(next).toEqual(sum)
      result = next
    }
  })

  it('Adds to parsed totals, whose objects inherit names', () => {
    for (const add of ADDENDS) {
      const parsed: Totals = JSON.parse(JSON.stringify(fullTotals('x', 1, '0.1')))
      const sum = noTotals()
      addTotals(sum, parsed)
      addTotals(sum, add)
      expect(plusTotals(parsed, JSON.parse(JSON.stringify(add)))).toEqual(sum)
    }
  })

  it('Shares the parts that do not change', () => {
    const sum = fullTotals('a', 1, '0.1')
    const result = plusTotals(sum, totalsOf({ counts: { a: 1 } }))
    expect(result.counts).toEqual({ a: 2 })
    for (const part of ['byStatus', 'models', 'time', 'durations', 'firstTokens', 'users', 'agent'] as const)
      expect(result[part]).toBe(sum[part])
    expect(result.spend.cost).toBe(sum.spend.cost)
  })
})

describe('plusSpend', () => {
  it('Gives what addSpend gives', () => {
    const sum = noSpend()
    let result = noSpend()
    for (const { spend } of ADDENDS) {
      addSpend(sum, spend)
      result = plusSpend(result, spend)
      expect(result).toEqual(sum)
    }
  })
})

describe('withoutUser', () => {
  it.each(HOSTILE_NAMES)('Removes the spend of the user %j from a copy', (name) => {
    const totals = plusTotals(fullTotals(name, 1, '0.1'), fullTotals('other', 1, '0.1'))
    const copy = structuredClone(totals)
    const left = withoutUser(totals, name)
    expect([Object.keys(left?.users ?? {}), Object.keys(left?.agent?.users ?? {})]).toEqual([['other'], ['other']])
    expect(structuredClone(totals)).toEqual(copy)
    expect(withoutUser(left ?? noTotals(), name)).toBeUndefined()
  })
})
