import type { CallAction } from '../../core/actions/call-action.ts'
import type { Budgets } from './read-budgets.ts'

export const BUDGET_ACTIONS: readonly CallAction<Budgets>[] = [
  {
    name: 'check_budgets',
    operation: 'read',
    method: 'GET',
    path: '/api/agents/budgets',
    maxBytes: 0,
    query: { sessionId: 'text', userId: 'text' },
    call: (budgets, of: Parameters<Budgets['check']>[0]) => budgets.check(of),
  },
]
