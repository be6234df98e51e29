import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { budgets } from '../../openapi/operating-schemas.ts'
import { BUDGET_ACTIONS } from './actions.ts'

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
