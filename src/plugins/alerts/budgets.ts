import { MOST, viewAmounts } from '../../model/amounts.ts'
import type { BudgetLimit, BudgetReport, BudgetState } from '../../model/budget.ts'
import { dayOf } from '../../model/day.ts'
import { addDecimals, negateDecimal } from '../../model/decimal.ts'
import { noSpend, type Spend } from '../../model/totals.ts'
import { wholeSpend, wholeTotals } from '../../model/whole-totals.ts'
import type { RunStore } from '../../ports/run-store.ts'

/** Limits on the spend of a session or a user. */
export interface Budget {
  /** 1-100 visible ASCII characters; used in reports and events. */
  readonly name: string
  readonly per: 'session' | 'user'
  /** With `per: 'user'`: counts the spend of so many days, including today (UTC). Default: all spend. */
  readonly days?: number
  /** Warns only. */
  readonly soft?: BudgetLimit
  /** Refuses: `allowed` is false once it is reached. */
  readonly hard?: BudgetLimit
}

/** Selects the budgets of a session, of a user, or of both. An unknown session or user has spent nothing. */
export interface BudgetQuestion {
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
}

/** Compares the spend with the budgets, in their order. Throws errors of the store. */
export async function checkBudgets(
  budgets: readonly Budget[],
  of: BudgetQuestion & { readonly tenant: string },
  now: number,
  store: Pick<RunStore, 'findSession' | 'findSpend'>,
): Promise<BudgetReport> {
  const { tenant, sessionId, userId } = of
  /** By scope and days: budgets that differ only in their limits cause one query. */
  const asked = new Map<string, Promise<Spent>>()

  async function ask(id: string, { per, days }: Budget): Promise<Spent> {
    if (per === 'session') {
      const session = await store.findSession(tenant, id)
      return spentOf(session ? wholeTotals(session.totals).spend : noSpend())
    }
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

export function isReached(limit: BudgetLimit | undefined, spent: BudgetState['spent']): boolean {
  if (limit?.tokens !== undefined && spent.tokens >= limit.tokens) return true
  if (limit?.cost === undefined) return false
  const { amount, currency } = limit.cost
  const cost = spent.cost.find((money) => money.currency === currency)?.amount ?? '0'
  return !isNegative(addDecimals(cost, negateDecimal(amount)))
}

type Spent = Pick<BudgetState, 'spent' | 'unpriced'>

function spentOf(spend: Spend): Spent {
  const { unpricedRuns, unpricedTokens, ...amounts } = wholeSpend(spend)
  return {
    spent: viewAmounts(amounts),
    unpriced: { runs: Math.min(unpricedRuns, MOST), tokens: Math.min(unpricedTokens, MOST) },
  }
}

function isNegative(decimal: string): boolean {
  return decimal.startsWith('-')
}
