import { addDecimals, negateDecimal } from './decimal.ts'
import type { RunStatus } from './run.ts'

/** Spend of runs. */
export interface Spend {
  readonly runs: number
  /** Input plus output. */
  readonly tokens: number
  /** Exact decimals by currency (ISO 4217). */
  readonly cost: Readonly<Record<string, string>>
  /** Runs with tokens and without a cost. */
  readonly unpricedRuns: number
  /** Tokens without a cost. Below 0 in an addition that removes tokens priced below a run with `countsScope: 'tree'`. */
  readonly unpricedTokens: number
}

/** One model's share of totals. */
export interface ModelTotals {
  readonly runs: number
  readonly counts: Readonly<Record<string, number>>
  readonly cost: Readonly<Record<string, string>>
}

/**
 * Totals of runs. Only added and subtracted, so that a sum is updated run by run. Plain JSON. Numbers are exact up to 2^53 - 1; views
 * show 2^53 - 1 for a greater sum, which may have lost some units if it is subtracted from later.
 *
 * Names come from callers, so a merge caps their number. A session keeps 200 models and 256 custom counters; the descendants'
 * totals of a run keep 32 models, 64 custom counters and 256 users; one model keeps 16 custom counters. Further models are added to
 * the model `(other)` of the provider `''`. Other names over the cap are dropped permanently: a further user's spend has no user.
 * Known counts have no cap. A name whose amount is 0 still counts towards the cap.
 */
export interface Totals {
  readonly spend: Spend
  readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>
  readonly counts: Readonly<Record<string, number>>
  /** By provider, then by model; `''`: unknown. */
  readonly models: Readonly<Record<string, Readonly<Record<string, ModelTotals>>>>
  /** Milliseconds, each a sum over the runs that report it. */
  readonly time: Readonly<Record<string, number>>
  /** Histogram of durations: number of runs by the lower bound of a bucket, such as `1024ms`. */
  readonly durations: Readonly<Record<string, number>>
  /** Histogram of the times to the first token, with the same buckets. */
  readonly firstTokens: Readonly<Record<string, number>>
  /** Spend by known user. For descendants of a run, not for a session. */
  readonly users: Readonly<Record<string, Spend>>
  /** Sums of runs that agents metered, so that they cannot change those of applications. The members above are the applications'. */
  readonly agent?: SourceTotals
}

/** Totals of one source. */
export type SourceTotals = Omit<Totals, 'agent'>

/** Shares of a provider's models. */
export type ProviderTotals = Readonly<Record<string, ModelTotals>>

type Draft<T> = { -readonly [Part in keyof T]: T[Part] }

export const EMPTY: Readonly<Record<string, never>> = Object.freeze(Object.create(null))

/** Creates a spend of 0. */
export function noSpend(): Spend {
  return { runs: 0, tokens: 0, cost: dictionary(), unpricedRuns: 0, unpricedTokens: 0 }
}

export function noModel(): ModelTotals {
  return { runs: 0, counts: dictionary(), cost: dictionary() }
}

/** Creates totals of no run. */
export function noTotals(): Totals {
  return {
    spend: noSpend(),
    byStatus: dictionary(),
    counts: dictionary(),
    models: dictionary(),
    time: dictionary(),
    durations: dictionary(),
    firstTokens: dictionary(),
    users: dictionary(),
  }
}

/** Adds in place to an unshared sum of {@link noTotals}. Add parsed totals to a new sum first: a name may be `toString`. */
export function addTotals(sum: Totals, add: Totals): void {
  addSpend(sum.spend, add.spend)
  addNumbers(sum.byStatus as Record<string, number>, add.byStatus as Numbers)
  addNumbers(sum.counts, add.counts)
  addModels(sum.models, add.models)
  addNumbers(sum.time, add.time)
  addNumbers(sum.durations, add.durations)
  addNumbers(sum.firstTokens, add.firstTokens)
  addUsers(sum.users, add.users)
  if (add.agent === undefined) return
  const draft: Draft<Totals> = sum
  draft.agent ??= noTotals()
  addTotals(draft.agent, add.agent)
}

/** Adds to a sum in place. The sum must come from {@link noSpend}. */
export function addSpend(sum: Spend, add: Spend): void {
  const draft: Draft<Spend> = sum
  draft.runs += add.runs
  draft.tokens += add.tokens
  addMoney(draft.cost, add.cost)
  draft.unpricedRuns += add.unpricedRuns
  draft.unpricedTokens += add.unpricedTokens
}

export function addModel(sum: ModelTotals, add: ModelTotals): void {
  const draft: Draft<ModelTotals> = sum
  draft.runs += add.runs
  addNumbers(draft.counts, add.counts)
  addMoney(draft.cost, add.cost)
}

/** Returns the share of a model; adds one of 0 when it is missing. Takes a {@link dictionary}. */
export function openModel(models: Record<string, ProviderTotals>, provider: string, model: string): ModelTotals {
  models[provider] ??= dictionary()
  const ofProvider: Record<string, ModelTotals> = models[provider]
  ofProvider[model] ??= noModel()
  return ofProvider[model]
}

function addModels(sum: Record<string, ProviderTotals>, add: Totals['models']): void {
  for (const provider in add)
    for (const model in add[provider]) {
      const share = add[provider][model]
      if (share) addModel(openModel(sum, provider, model), share)
    }
}

function addUsers(sum: Record<string, Spend>, add: Totals['users']): void {
  for (const user in add) {
    sum[user] ??= noSpend()
    addSpend(sum[user], add[user] ?? NO_SPEND)
  }
}

/** Changes every share of a model. Returns `models` itself when `change` changes no share. Calls `change` up to twice per share. */
export function mapModels(
  models: Totals['models'],
  change: (share: ModelTotals, provider: string, model: string) => ModelTotals,
): Totals['models'] {
  if (!changesAny(models, change)) return models
  const changed: Record<string, ProviderTotals> = dictionary()
  for (const provider in models) {
    const ofProvider = dictionary<ModelTotals>()
    for (const model in models[provider])
      ofProvider[model] = change(models[provider][model] as ModelTotals, provider, model)
    changed[provider] = ofProvider
  }
  return changed
}

function changesAny(models: Totals['models'], change: Parameters<typeof mapModels>[1]): boolean {
  for (const provider in models)
    for (const model in models[provider]) {
      const share = models[provider][model] as ModelTotals
      if (change(share, provider, model) !== share) return true
    }
  return false
}

/** Subtracts: `before` plus the result is `after`. `undefined`: they are equal. */
export function minusTotals(after: Totals, before: Totals): Totals | undefined {
  const change = minusSource(after, before)
  if (after.agent === undefined && before.agent === undefined) return change
  const agent = minusSource(after.agent ?? EMPTY_TOTALS, before.agent ?? EMPTY_TOTALS)
  return agent === undefined ? change : { ...(change ?? EMPTY_TOTALS), agent }
}

function minusSource(after: SourceTotals, before: SourceTotals): SourceTotals | undefined {
  const change: SourceTotals = {
    spend: minusSpend(after.spend, before.spend) ?? NO_SPEND,
    byStatus: minusNumbers(after.byStatus as Numbers, before.byStatus as Numbers),
    counts: minusNumbers(after.counts, before.counts),
    models: minusEach(after.models, before.models, EMPTY, minusProvider),
    time: minusNumbers(after.time, before.time),
    durations: minusNumbers(after.durations, before.durations),
    firstTokens: minusNumbers(after.firstTokens, before.firstTokens),
    users: minusEach(after.users, before.users, NO_SPEND, minusSpend),
  }
  return isNothing(change) ? undefined : change
}

const NO_SPEND: Spend = Object.freeze({ runs: 0, tokens: 0, cost: EMPTY, unpricedRuns: 0, unpricedTokens: 0 })
/** Totals of no run. Read only. */
export const EMPTY_TOTALS: SourceTotals = Object.freeze({
  spend: NO_SPEND,
  byStatus: EMPTY,
  counts: EMPTY,
  models: EMPTY,
  time: EMPTY,
  durations: EMPTY,
  firstTokens: EMPTY,
  users: EMPTY,
})
const NO_MODEL: ModelTotals = Object.freeze({ runs: 0, counts: EMPTY, cost: EMPTY })

function minusSpend(after: Spend, before: Spend): Spend | undefined {
  const runs = after.runs - before.runs
  const tokens = after.tokens - before.tokens
  const cost = minusMoney(after.cost, before.cost)
  const unpricedRuns = after.unpricedRuns - before.unpricedRuns
  const unpricedTokens = after.unpricedTokens - before.unpricedTokens
  if (runs === 0 && tokens === 0 && unpricedRuns === 0 && unpricedTokens === 0 && isEmpty(cost)) return undefined
  return { runs, tokens, cost, unpricedRuns, unpricedTokens }
}

function minusProvider(after: ProviderTotals, before: ProviderTotals): ProviderTotals | undefined {
  const change = minusEach(after, before, NO_MODEL, minusModel)
  return isEmpty(change) ? undefined : change
}

function minusModel(after: ModelTotals, before: ModelTotals): ModelTotals | undefined {
  const runs = after.runs - before.runs
  const counts = minusNumbers(after.counts, before.counts)
  const cost = minusMoney(after.cost, before.cost)
  return runs === 0 && isEmpty(counts) && isEmpty(cost) ? undefined : { runs, counts, cost }
}

function isNothing(totals: SourceTotals): boolean {
  if (totals.spend !== NO_SPEND) return false
  for (const part in totals) if (part !== 'spend' && !isEmpty(totals[part as keyof SourceTotals])) return false
  return true
}

type Numbers = Readonly<Record<string, number>>

type Decimals = Readonly<Record<string, string>>

/** Creates an object without a prototype: it inherits no names, so any name may be added. */
export function dictionary<T>(): Record<string, T> {
  return Object.create(null)
}

/** Returns the own value of a name. Callers choose the names, so `toString` must find no inherited value. */
export function named<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

export function isEmpty(of: object): boolean {
  for (const _ in of) return false
  return true
}

/** Adds to a {@link dictionary} in place. Names with 0 stay. */
export function addNumbers(sum: Record<string, number>, add: Numbers): void {
  for (const name in add) sum[name] = (sum[name] ?? 0) + (add[name] ?? 0)
}

function addMoney(sum: Record<string, string>, add: Decimals): void {
  for (const name in add) {
    const to = sum[name]
    const by = add[name] ?? '0'
    sum[name] = to === undefined ? by : addDecimals(to, by)
  }
}

/** Subtracts by name. A name that only one side has is in the result, even with 0. */
function minusNumbers(after: Numbers, before: Numbers): Numbers {
  return minusEach(after, before, 0, (to, from) => to - from)
}

function minusMoney(after: Decimals, before: Decimals): Decimals {
  return minusEach(after, before, '0', (to, from) => addDecimals(to, negateDecimal(from)))
}

/** Subtracts the names that differ or that only one side has. `minus` returns `undefined` for equal values. */
function minusEach<T>(
  after: Readonly<Record<string, T>>,
  before: Readonly<Record<string, T>>,
  none: T,
  minus: (to: T, from: T) => T | undefined,
): Readonly<Record<string, T>> {
  if (after === before) return EMPTY
  let changes: Record<string, T> | undefined
  for (const name in after) {
    const to = after[name] as T
    const from = named(before, name)
    const change = to === from ? undefined : minus(to, from ?? none)
    if (change === undefined) continue
    changes ??= dictionary()
    changes[name] = change
  }
  for (const name in before) {
    const change = Object.hasOwn(after, name) ? undefined : minus(none, before[name] as T)
    if (change === undefined) continue
    changes ??= dictionary()
    changes[name] = change
  }
  return changes ?? EMPTY
}
