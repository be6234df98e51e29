import { expect, it } from 'vitest'
import { addTotals, noSpend, noTotals, type SourceTotals, type Spend, type Totals } from '../../src/model/totals.ts'
import { wholeTotals } from '../../src/model/whole-totals.ts'

const spend: Spend = { runs: 2, tokens: 3, cost: { USD: '1.5' }, unpricedRuns: 1, unpricedTokens: 4 }

/** Totals with every part, each of the given amounts. */
function filled(of: Spend, amount: number, cost: Spend['cost'], names: string): SourceTotals {
  return {
    spend: of,
    byStatus: { completed: amount },
    counts: { [names]: amount, steps: amount },
    models: { p: { [names]: { runs: amount, counts: { steps: amount }, cost } } },
    time: { modelMs: amount },
    durations: { '1ms': amount },
    firstTokens: { '2ms': amount },
    users: { ann: of },
  }
}

/** With prototypes of plain objects, to compare. */
const plain = (totals: Totals): unknown => JSON.parse(JSON.stringify(totals))

it('Totals without an agent are whole', () => {
  const totals = noTotals()
  addTotals(totals, filled(spend, 1, { USD: '1' }, 'a'))
  expect(wholeTotals(totals)).toBe(totals)
})

it('Whole totals are the sum of both sources, without users', () => {
  const totals: Totals = {
    ...filled(spend, 1, { USD: '1' }, 'a'),
    agent: filled({ ...spend, cost: { USD: '0.5', EUR: '2' } }, 5, { EUR: '2' }, 'b'),
  }
  const whole = wholeTotals(totals)
  expect(plain(whole)).toEqual({
    spend: { runs: 4, tokens: 6, cost: { USD: '2', EUR: '2' }, unpricedRuns: 2, unpricedTokens: 8 },
    byStatus: { completed: 6 },
    counts: { a: 1, b: 5, steps: 6 },
    models: {
      p: {
        a: { runs: 1, counts: { steps: 1 }, cost: { USD: '1' } },
        b: { runs: 5, counts: { steps: 5 }, cost: { EUR: '2' } },
      },
    },
    time: { modelMs: 6 },
    durations: { '1ms': 6 },
    firstTokens: { '2ms': 6 },
    users: {},
  })
})

it('An amount of the agents below 0 takes nothing from the applications', () => {
  const below: Spend = { runs: -1, tokens: -1, cost: { USD: '-1', EUR: '0' }, unpricedRuns: -1, unpricedTokens: -1 }
  const own = filled(spend, 1, { USD: '1' }, 'a')
  const agent = filled(below, -1, { USD: '-1', EUR: '0' }, 'a')
  const whole = wholeTotals({ ...own, agent })
  expect(plain(whole)).toEqual({
    ...own,
    spend: { ...spend, cost: { USD: '1.5', EUR: '0' } },
    models: { p: { a: { runs: 1, counts: { steps: 1 }, cost: { USD: '1', EUR: '0' } } } },
    users: {},
  })
  expect(plain(wholeTotals({ ...noTotals(), agent: { ...noTotals(), spend: noSpend() } }))).toEqual(plain(noTotals()))
})
