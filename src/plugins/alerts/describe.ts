import type { BudgetLimit, BudgetReport, BudgetState } from '../../model/budget.ts'
import { amounts, money, unpriced } from '../../openapi/amount-schemas.ts'
import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { type BodySchema, s } from '../../openapi/model-schema.ts'
import { BUDGET_ACTIONS } from './actions.ts'

const budgetLimit = s.object<BudgetLimit>('BudgetLimit', undefined, {
  tokens: s.optional(s.whole(0)),
  cost: s.optional(money),
})

const budget = s.object<BudgetState>('BudgetState', 'A budget, and what is spent of it.', {
  name: s.text(),
  per: s.among({ session: true, user: true }),
  id: s.text('The session or the user.'),
  level: s.among({ within: true, soft: true, hard: true }),
  spent: amounts,
  unpriced,
  soft: s.optional(budgetLimit),
  hard: s.optional(budgetLimit),
})

const budgets: BodySchema = s.object<BudgetReport>('BudgetReport', 'Budgets of a session, a user, or both.', {
  allowed: s.flag('`true`: no hard limit is reached.'),
  budgets: s.list(budget),
})

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  check_budgets: {
    operationId: 'checkBudgets',
    summary: 'Check the budgets of a session or a user',
    tag: 'agents',
    about: 'Takes a `sessionId`, a `userId`, or both. An unknown one has spent nothing.',
    answer: budgets,
  },
}

/** Endpoints of `alerts`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const ALERTS_ENDPOINTS: DescribedEndpoints = { calls: BUDGET_ACTIONS, descriptions: DESCRIPTIONS }
