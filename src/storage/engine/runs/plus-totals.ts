import { addDecimals } from '../../../model/decimal.ts'
import {
  dictionary,
  EMPTY_TOTALS,
  noModel,
  noSpend,
  type ProviderTotals,
  type SourceTotals,
  type Spend,
  type Totals,
} from '../../../model/totals.ts'
import { removeUser } from '../../rules/run-rules.ts'

/**
 * Sum of totals, as `addTotals` adds them. Changes neither: the result shares the parts of `sum` to which nothing is added, so that its cost
 * does not depend on the size of the others.
 */
export function plusTotals(sum: Totals, add: Totals): Totals {
  const source = plusSource(sum, add)
  if (add.agent === undefined) return sum.agent === undefined ? source : { ...source, agent: sum.agent }
  return { ...source, agent: plusSource(sum.agent ?? EMPTY_TOTALS, add.agent) }
}

function plusSource(sum: SourceTotals, add: SourceTotals): SourceTotals {
  return {
    spend: plusSpend(sum.spend, add.spend),
    byStatus: plusNumbers(sum.byStatus as Numbers, add.byStatus as Numbers),
    counts: plusNumbers(sum.counts, add.counts),
    models: plusEach(sum.models, add.models, NO_MODELS, plusModels),
    time: plusNumbers(sum.time, add.time),
    durations: plusNumbers(sum.durations, add.durations),
    firstTokens: plusNumbers(sum.firstTokens, add.firstTokens),
    users: plusEach(sum.users, add.users, NO_SPEND, plusSpend),
  }
}

/** Sum of spends. Changes neither. */
export function plusSpend(sum: Spend, add: Spend): Spend {
  return {
    runs: sum.runs + add.runs,
    tokens: sum.tokens + add.tokens,
    cost: plusMoney(sum.cost, add.cost),
    unpricedRuns: sum.unpricedRuns + add.unpricedRuns,
    unpricedTokens: sum.unpricedTokens + add.unpricedTokens,
  }
}

/** Totals without a user's spend; `undefined` if they have none. */
export function withoutUser(totals: Totals, userId: string): Totals | undefined {
  const { users, agent } = totals
  if (!Object.hasOwn(users, userId) && !(agent && Object.hasOwn(agent.users, userId))) return undefined
  const copy = { ...totals, users: copyOf(users), ...(agent && { agent: { ...agent, users: copyOf(agent.users) } }) }
  removeUser(copy, userId)
  return copy
}

type Dictionary<T> = Readonly<Record<string, T>>
type Numbers = Dictionary<number>
type ModelTotals = ProviderTotals[string]

const NO_SPEND = noSpend()
const NO_MODEL = noModel()
const NO_MODELS: ProviderTotals = dictionary()

function plusModels(sum: ProviderTotals, add: ProviderTotals): ProviderTotals {
  return plusEach(sum, add, NO_MODEL, plusModel)
}

function plusModel(sum: ModelTotals, add: ModelTotals): ModelTotals {
  return {
    runs: sum.runs + add.runs,
    counts: plusNumbers(sum.counts, add.counts),
    cost: plusMoney(sum.cost, add.cost),
  }
}

function plusNumbers(sum: Numbers, add: Numbers): Numbers {
  let result: Record<string, number> | undefined
  for (const name in add) {
    result ??= copyOf(sum)
    result[name] = (result[name] ?? 0) + (add[name] ?? 0)
  }
  return result ?? sum
}

function plusMoney(sum: Dictionary<string>, add: Dictionary<string>): Dictionary<string> {
  let result: Record<string, string> | undefined
  for (const name in add) {
    result ??= copyOf(sum)
    const to = result[name]
    const by = add[name] ?? '0'
    result[name] = to === undefined ? by : addDecimals(to, by)
  }
  return result ?? sum
}

function plusEach<T>(sum: Dictionary<T>, add: Dictionary<T>, none: T, plus: (to: T, by: T) => T): Dictionary<T> {
  let result: Record<string, T> | undefined
  for (const name in add) {
    result ??= copyOf(sum)
    result[name] = plus(result[name] ?? none, add[name] ?? none)
  }
  return result ?? sum
}

/** A copy without a prototype: callers choose the names. */
function copyOf<T>(of: Dictionary<T>): Record<string, T> {
  const copy = dictionary<T>()
  for (const name in of) copy[name] = of[name] as T
  return copy
}
