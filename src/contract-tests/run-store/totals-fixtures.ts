import { addSpend, addTally, noSpend, noTally, type Spend, type Tally } from '../../model/tally.ts'
import type { TallyChanges } from '../../ports/run-store.ts'

export function spendOf(more: Partial<Spend> = {}): Spend {
  return { ...noSpend(), ...more }
}

export function tallyOf(more: Partial<Tally> = {}): Tally {
  return { ...noTally(), ...more }
}

/** A tally of which every part says something. */
export function fullTally(name: string, by: number, amount: string): Tally {
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
export function changesOf(more: Partial<TallyChanges> = {}): TallyChanges {
  return { session: noTally(), below: [], users: [], ...more }
}

/** So many runs, for a session, below a run and for a user. */
export function countOf(runs: number, below: string, userId: string): TallyChanges {
  const spend = spendOf({ runs })
  const add = tallyOf({ spend })
  return { session: add, below: [{ runId: below, add }], users: [{ userId, add: spend }] }
}

export function sumOf(...tallies: readonly Tally[]): Tally {
  const sum = noTally()
  for (const tally of tallies) addTally(sum, tally)
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
