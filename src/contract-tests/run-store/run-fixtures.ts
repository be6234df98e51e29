import type { DerivedRunData, RunReport, RunState } from '../../model/run.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../model/totals.ts'
import type { MergeDecision, MergeKey, RunKey, RunStore, StoredRun, TotalsChanges } from '../../ports/run-store.ts'
import { ok } from '../assertions.ts'

/** Derived run data without pending run events. */
export const QUIET: DerivedRunData = Object.freeze({ ended: [], pending: [] })

export const PENDING: DerivedRunData = Object.freeze({ ended: ['failed'] as const, pending: ['failed'] as const })

/** Names that a store may confuse with inherited members or with one another. */
export const HOSTILE_NAMES: readonly string[] = Object.freeze([
  ...['a', 'A', 'a ', 'ä', 'a\u0308', 'ss', 'ß', 'İ', '😀', '😁'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '$set', 'a.b', 'a%', "a'--", 'a"', 'a\\', 'null', '0'],
  ...['\u202e', 'x'.repeat(64)],
])

/** Hostile names that are valid ids of runs and sessions. */
export const HOSTILE_IDS: readonly string[] = Object.freeze([
  ...['a', 'A', '__proto__', 'constructor', 'toString', 'a.b', 'a_b', 'a-b', '0', '00', '1e3', 'null'],
  ...['x'.repeat(200), `${'x'.repeat(199)}X`],
])

export function runKeyOf(runId: string, more: Partial<MergeKey> = {}): MergeKey {
  return { tenant: 't', sessionId: 's', runId, ...more }
}

/** The smallest valid run state, with these members. */
export function stateOf(
  { runId, sessionId }: Pick<RunKey, 'runId' | 'sessionId'>,
  more: Partial<RunReport> = {},
  agent?: Partial<RunReport>,
): RunState {
  const nothing = { seq: -1, earliest: {}, counts: {}, final: {}, latest: {}, metadata: {}, tags: [] }
  return { runId, sessionId, application: { ...nothing, ...more }, ...(agent && { agent: { ...nothing, ...agent } }) }
}

export async function put(
  store: RunStore,
  key: RunKey,
  more: Partial<RunReport> = {},
  decision: Partial<MergeDecision<undefined>> = {},
): Promise<StoredRun> {
  const decided = { result: undefined, state: stateOf(key, more), derived: QUIET, touched: true, ...decision }
  const { run } = await store.mergeRun(key, () => decided)
  ok(run, 'a merge that decides a state returns the run')
  return run
}

export function runIds(count: number, prefix = 'r'): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`)
}

export function runIdsOf(runs: readonly StoredRun[]): readonly string[] {
  return runs.map(({ state }) => state.runId)
}

export function spendOf(more: Partial<Spend> = {}): Spend {
  return { ...noSpend(), ...more }
}

export function totalsOf(more: Partial<Totals> = {}): Totals {
  return { ...noTotals(), ...more }
}

/** Totals of both sources, in which no part is zero. */
export function fullTotals(name: string, by: number, amount: string): Totals {
  return { ...fullSource(name, by, amount), agent: fullSource(name, by * 3, amount) }
}

function fullSource(name: string, by: number, amount: string): Omit<Totals, 'agent'> {
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

export function changesOf(more: Partial<TotalsChanges> = {}): TotalsChanges {
  return { session: noTotals(), descendants: [], users: [], ...more }
}

export function adding(more: Partial<TotalsChanges>): { readonly totalsChanges: TotalsChanges } {
  return { totalsChanges: changesOf(more) }
}

/** Adds the same totals to the session, to ancestor `p` and to user `u`. */
export function addingAll(add: Totals): { readonly totalsChanges: TotalsChanges } {
  return adding({ session: add, descendants: [{ runId: 'p', add }], users: [{ userId: 'u', add: add.spend }] })
}

/** Counts runs in the session, under a run and for a user. */
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

export function own<T>(name: string, value: T): Record<string, T> {
  return Object.fromEntries([[name, value]])
}

export function spoilRuns(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    spoilRuns(member)
    Reflect.set(value, name, 'spoilt')
  }
  Reflect.set(value, Array.isArray(value) ? value.length : 'added', 'spoilt')
}
