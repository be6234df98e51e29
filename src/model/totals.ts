import type { RunStatus } from './run.ts'
import {
  addMoney,
  addNumbers,
  dictionary,
  EMPTY,
  isEmpty,
  minusEach,
  minusMoney,
  minusNumbers,
  type Numbers,
} from './sums.ts'

/** What runs have used up. */
export interface Spend {
  readonly runs: number
  /** Input and output together. */
  readonly tokens: number
  /** By currency (ISO 4217): exact decimals. */
  readonly cost: Readonly<Record<string, string>>
  /** Runs that told of tokens and have no cost. */
  readonly unpricedRuns: number
  /** Told without a cost. In a part it may be below 0: what has a price below a run that tells for its whole tree. */
  readonly unpricedTokens: number
}

/** One model's share of a tally. */
export interface ModelTotals {
  readonly runs: number
  readonly counts: Readonly<Record<string, number>>
  readonly cost: Readonly<Record<string, string>>
}

/**
 * What runs come to. Tallies are added and taken away, and nothing else is ever done to one, so that a sum can be kept
 * up to date run by run. Plain JSON. Numbers are exact up to 2^53 - 1.
 *
 * Names come from callers, and a merge adds no more of them to a session's sum than 200 models and 256 counters of callers' own,
 * and to a sum below a run than 32 models, 64 such counters and 256 users; to one model no more than 16 such
 * counters. Further models go to the model `(other)` of the
 * provider `''`; what else finds no place is left out, and stays out: a further user's spend is nobody's. Known counts always
 * have a place. What came to 0 keeps its name and its place.
 */
export interface Totals {
  readonly spend: Spend
  readonly byStatus: Readonly<Partial<Record<RunStatus, number>>>
  readonly counts: Readonly<Record<string, number>>
  /** By provider, then by model; `''` where a run does not say. */
  readonly models: Readonly<Record<string, Readonly<Record<string, ModelTotals>>>>
  /** Milliseconds, each a sum over the runs that tell. */
  readonly time: Readonly<Record<string, number>>
  /** How many runs took how long: by the least duration of a bucket, such as `1024ms`. */
  readonly durations: Readonly<Record<string, number>>
  /** How many runs had their first token after how long: by bucket too. */
  readonly firstTokens: Readonly<Record<string, number>>
  /** What users spent, where it is known whose it is. Kept below a run, not for a session. */
  readonly users: Readonly<Record<string, Spend>>
}

/** The shares of a provider's models. */
export type ProviderTotals = Readonly<Record<string, ModelTotals>>

type Draft<T> = { -readonly [Part in keyof T]: T[Part] }

/** The spend of nobody. */
export function noSpend(): Spend {
  return { runs: 0, tokens: 0, cost: dictionary(), unpricedRuns: 0, unpricedTokens: 0 }
}

/** A share in nothing. */
export function noModel(): ModelTotals {
  return { runs: 0, counts: dictionary(), cost: dictionary() }
}

/** The tally of no run. */
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

/**
 * Adds to a sum, in place: a store's own, that nobody else holds, and that began as {@link noTally}. One that was written as
 * JSON and read again is first added to a new one: names come from callers, and an object that was read has some of its own.
 */
export function addTotals(sum: Totals, add: Totals): void {
  addSpend(sum.spend, add.spend)
  addNumbers(sum.byStatus as Record<string, number>, add.byStatus as Numbers)
  addNumbers(sum.counts, add.counts)
  addModels(sum.models, add.models)
  addNumbers(sum.time, add.time)
  addNumbers(sum.durations, add.durations)
  addNumbers(sum.firstTokens, add.firstTokens)
  addUsers(sum.users, add.users)
}

/** Adds to a sum, in place: a store's own, that began as {@link noSpend}. */
export function addSpend(sum: Spend, add: Spend): void {
  const draft: Draft<Spend> = sum
  draft.runs += add.runs
  draft.tokens += add.tokens
  addMoney(draft.cost, add.cost)
  draft.unpricedRuns += add.unpricedRuns
  draft.unpricedTokens += add.unpricedTokens
}

/** Adds to a sum, in place: one that began as {@link noModel}. */
export function addModel(sum: ModelTotals, add: ModelTotals): void {
  const draft: Draft<ModelTotals> = sum
  draft.runs += add.runs
  addNumbers(draft.counts, add.counts)
  addMoney(draft.cost, add.cost)
}

/** The row of a model, which is opened if there is none yet. Takes a {@link dictionary} of such. */
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

/** What has to be added to `before` to come to `after`; `undefined`: nothing. */
export function minusTotals(after: Totals, before: Totals): Totals | undefined {
  const change: Totals = {
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

function isNothing(totals: Totals): boolean {
  if (totals.spend !== NO_SPEND) return false
  for (const part in totals) if (part !== 'spend' && !isEmpty(totals[part as keyof Totals])) return false
  return true
}
