import type { BudgetReport } from '../../model/budget.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { storedText, type TenantScope, tenant } from '../../services/call-checks.ts'
import { type Budget, type BudgetQuestion, checkBudgets } from './budgets.ts'

/** Budgets of a host. */
export interface Budgets {
  /**
   * Checks whether a run may begin, by the budgets of its session, its user, or both. Throws errors of the store.
   *
   * @throws {SallyportError} `option_invalid`: neither a session nor a user is given, or an option is wrong.
   */
  check(of: BudgetQuestion & TenantScope): Promise<BudgetReport>
}

interface BudgetsDeps {
  readonly budgets: readonly Budget[]
  readonly store: RunStore
  readonly clock: Clock
}

const CHECKS: Checks<BudgetQuestion & TenantScope> = { sessionId: storedText, userId: storedText, tenant }

export function budgetsOf({ budgets, store, clock }: BudgetsDeps): Budgets {
  return {
    async check(of) {
      const { tenant = 'default', ...question } = readOptions('budgets.check', of, CHECKS, ({ sessionId, userId }) =>
        sessionId === undefined && userId === undefined ? [{ detail: 'takes a sessionId, a userId, or both' }] : [],
      )
      return checkBudgets(budgets, { ...question, tenant }, clock.now(), store)
    },
  }
}
