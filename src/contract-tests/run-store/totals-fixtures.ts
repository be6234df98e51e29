import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { TotalsChanges } from '../../ports/run-store.ts'

export function spendOf(more: Partial<Spend> = {}): Spend {
  return { ...noSpend(), ...more }
}

export function totalsOf(more: Partial<Totals> = {}): Totals {
  return { ...noTotals(), ...more }
}

/** A tally of which every part says something. */
export function fullTotals(name: string, by: number, amount: string): Totals {
  const numbers = own(name, by)
  const cost = own(name, amount)
  const spend: Spend = { runs: by, tokens: by * 100, cost, unpricedRuns: by, unpricedTokens: -by }
  return {
    spend,
    byStatus: { completed: by, failed: -by },
    counts: numbers,
    models: own(name, own(name, { runs: by, counts: numbers, cost })),
    time: numbers,
    durations: numbers,
    firstTokens: numbers,
    users: own(name, spend),
  }
}

/** What to add to a session, below runs and for users: nothing, where nothing is said. */
export function changesOf(more: Partial<TotalsChanges> = {}): TotalsChanges {
  return { session: noTotals(), descendants: [], users: [], ...more }
}

/** So many runs, for a session, below a run and for a user. */
export function countRuns(runs: number, descendants: string, userId: string): TotalsChanges {
  const spend = spendOf({ runs })
  const add = totalsOf({ spend })
  return { session: add, descendants: [{ runId: descendants, add }], users: [{ userId, add: spend }] }
}

export function sumOf(...totalsChanges: readonly Totals[]): Totals {
  const sum = noTotals()
  for (const totals of totalsChanges) addTotals(sum, totals)
  return sum
}

export function spendSum(...spends: readonly Spend[]): Spend {
  const sum = noSpend()
  for (const spend of spends) addSpend(sum, spend)
  return sum
}

/** An object with one name of its own, whatever name that is. */
export function own<T>(name: string, value: T): Record<string, T> {
  return Object.fromEntries([[name, value]])
}
