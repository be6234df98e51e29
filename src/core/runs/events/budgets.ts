import { dayOf } from '../../../model/day.ts'
import { addDecimals, negateDecimal } from '../../../model/decimal.ts'
import type { Money, Unpriced } from '../../../model/session.ts'
import { noSpend, type Spend } from '../../../model/totals.ts'
import type { RunStore } from '../../../ports/run-store.ts'

/** How much may be spent: whichever is reached first. */
export interface BudgetLimit {
  /** Input and output together. */
  readonly tokens?: number
  /** What was spent in other currencies does not count towards it. */
  readonly cost?: Money
}

/** What a session, or a user, may spend. */
export interface Budget {
  /** 1-100 visible ASCII characters; names it in reports and events. */
  readonly name: string
  readonly per: 'session' | 'user'
  /** With `per: 'user'`: only what was spent in so many days counts, today (in UTC) among them. Default: ever. */
  readonly days?: number
  /** Worth a warning. */
  readonly soft?: BudgetLimit
  /** No more. */
  readonly hard?: BudgetLimit
}

/** How a budget stands. */
export interface BudgetState {
  readonly name: string
  readonly per: 'session' | 'user'
  /** Whose. */
  readonly id: string
  /** The limit that is reached: spent is as much as it says, or more. `hard` where both are. */
  readonly level: 'within' | 'soft' | 'hard'
  /** What corrections brought below 0 is shown as 0. */
  readonly spent: { readonly tokens: number; readonly cost: readonly Money[] }
  /** Spent too, but in no cost: where it is not 0, a limit in money holds less than it seems. */
  readonly unpriced: Unpriced
  readonly soft?: BudgetLimit
  readonly hard?: BudgetLimit
}

/** Whether a run may begin. */
export interface BudgetReport {
  /** No hard limit is reached. */
  readonly allowed: boolean
  readonly budgets: readonly BudgetState[]
}

/** Whose budgets to look at: of a session, of a user, or of both. Who was never heard of has spent nothing. */
export interface BudgetQuestion {
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
}

/** Holds what was spent against the budgets, in their order. Throws what the store throws. */
export async function checkBudgets(
  budgets: readonly Budget[],
  of: BudgetQuestion & { readonly tenant: string },
  now: number,
  store: Pick<RunStore, 'findSession' | 'findSpend'>,
): Promise<BudgetReport> {
  const { tenant, sessionId, userId } = of
  /** By what is asked of the store, so that budgets which differ in their limits alone ask once. */
  const asked = new Map<string, Promise<Spent>>()

  async function ask(id: string, { per, days }: Budget): Promise<Spent> {
    if (per === 'session') return spentOf((await store.findSession(tenant, id))?.totals.spend ?? noSpend())
    return spentOf(await store.findSpend(tenant, id, days === undefined ? 0 : dayOf(now) - days + 1))
  }

  async function stateOf(budget: Budget): Promise<BudgetState | undefined> {
    const { name, per, days, soft, hard } = budget
    const id = per === 'session' ? sessionId : userId
    if (id === undefined) return undefined
    const key = `${per} ${days}`
    const asking = asked.get(key) ?? ask(id, budget)
    asked.set(key, asking)
    const { spent, unpriced } = await asking
    const level = isReached(hard, spent) ? 'hard' : isReached(soft, spent) ? 'soft' : 'within'
    return { name, per, id, level, spent, unpriced, ...(soft && { soft }), ...(hard && { hard }) }
  }

  const states = (await Promise.all(budgets.map(stateOf))).filter((state) => state !== undefined)
  return { allowed: states.every(({ level }) => level !== 'hard'), budgets: states }
}

/** Whether what is spent is as much as a limit, or more. */
export function isReached(limit: BudgetLimit | undefined, spent: BudgetState['spent']): boolean {
  if (limit?.tokens !== undefined && spent.tokens >= limit.tokens) return true
  if (limit?.cost === undefined) return false
  const { amount, currency } = limit.cost
  const cost = spent.cost.find((money) => money.currency === currency)?.amount ?? '0'
  return !isNegative(addDecimals(cost, negateDecimal(amount)))
}

type Spent = Pick<BudgetState, 'spent' | 'unpriced'>

function spentOf({ tokens, cost, unpricedRuns, unpricedTokens }: Spend): Spent {
  const money = Object.entries(cost).map(([currency, amount]) => ({
    amount: isNegative(amount) ? '0' : amount,
    currency,
  }))
  money.sort((a, b) => (a.currency < b.currency ? -1 : 1))
  return {
    spent: { tokens: Math.max(0, tokens), cost: money },
    unpriced: { runs: Math.max(0, unpricedRuns), tokens: Math.max(0, unpricedTokens) },
  }
}

function isNegative(decimal: string): boolean {
  return decimal.startsWith('-')
}
