import { aTenant, type Check, type Checks, checkOptions, unlessAbsent } from './check-options.ts'
import { type Budget, type BudgetQuestion, type BudgetReport, checkBudgets } from './core/run-events/budgets.ts'
import { SallyportError } from './errors.ts'
import { type TenantScope, tenantOf } from './paging.ts'
import type { Clock } from './ports/clock.ts'
import type { RunStore } from './ports/run-store.ts'

/** The budgets of a host. */
export interface Budgets {
  /**
   * Whether a run may begin, by the budgets of its session, of its user, or of both. Throws what the store throws.
   *
   * @throws {SallyportError} `option_invalid`, when it asks about nobody, or for options that are none.
   */
  check(of: BudgetQuestion & TenantScope): Promise<BudgetReport>
}

interface BudgetsDeps {
  readonly budgets: readonly Budget[]
  readonly store: RunStore
  readonly clock: Clock
}

/** Of an id that is empty by mistake, nothing was ever spent. */
const anId: Check = unlessAbsent((value) => typeof value === 'string' && value !== '', 'is a string that is not empty')

const CHECKS: Checks = { sessionId: anId, userId: anId, tenant: aTenant }

export function budgetsOf({ budgets, store, clock }: BudgetsDeps): Budgets {
  return {
    async check(of) {
      checkOptions('budgets.check', of, CHECKS)
      if (of.sessionId === undefined && of.userId === undefined)
        throw new SallyportError('option_invalid', 'budgets.check takes a sessionId, a userId, or both.')
      return checkBudgets(budgets, { ...of, tenant: tenantOf(of) }, clock.now(), store)
    },
  }
}
