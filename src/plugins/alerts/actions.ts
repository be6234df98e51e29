import type { CallAction } from '../../core/actions/call-action.ts'
import { READ } from '../../core/actions/row-parts.ts'
import type { Budgets } from './read-budgets.ts'

export const BUDGET_ACTIONS: readonly CallAction<Budgets>[] = [
  {
    name: 'check_budgets',
    ...READ,
    path: '/api/agents/budgets',
    query: { sessionId: 'text', userId: 'text' },
    call: (budgets, of: Parameters<Budgets['check']>[0]) => budgets.check(of),
  },
]
