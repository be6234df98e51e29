import { addTotals, EMPTY, type ModelTotals, mapModels, noTotals, type Spend, type Totals } from './totals.ts'

/** The sum over both sources, without users. An amount of the agents that corrections made negative counts as 0. */
export function wholeTotals(totals: Totals): Totals {
  const { agent, ...application } = totals
  if (agent === undefined) return totals
  const sum = noTotals()
  addTotals(sum, { ...application, users: EMPTY })
  addTotals(sum, {
    spend: wholeSpend(agent.spend),
    byStatus: aboveZero(agent.byStatus as Totals['counts']),
    counts: aboveZero(agent.counts),
    models: mapModels(agent.models, wholeModel),
    time: aboveZero(agent.time),
    durations: aboveZero(agent.durations),
    firstTokens: aboveZero(agent.firstTokens),
    users: EMPTY,
  })
  return sum
}

/** A spend without what corrections made negative. */
export function wholeSpend({ runs, tokens, cost, unpricedRuns, unpricedTokens }: Spend): Spend {
  return {
    runs: Math.max(0, runs),
    tokens: Math.max(0, tokens),
    cost: moneyAboveZero(cost),
    unpricedRuns: Math.max(0, unpricedRuns),
    unpricedTokens: Math.max(0, unpricedTokens),
  }
}

function wholeModel({ runs, counts, cost }: ModelTotals): ModelTotals {
  return { runs: Math.max(0, runs), counts: aboveZero(counts), cost: moneyAboveZero(cost) }
}

function aboveZero(numbers: Readonly<Record<string, number>>): typeof numbers {
  return Object.fromEntries(Object.entries(numbers).filter(([, amount]) => amount > 0))
}

export function moneyAboveZero(cost: Spend['cost']): Spend['cost'] {
  return Object.fromEntries(Object.entries(cost).filter(([, amount]) => !amount.startsWith('-')))
}
