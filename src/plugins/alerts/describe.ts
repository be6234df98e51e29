import type { CallDescription } from '../../openapi/call-operations.ts'
import { budgets } from '../../openapi/operating-schemas.ts'

/** Texts and answers of {@link BUDGET_ACTIONS}, by their names. Only the OpenAPI document and tests import them. */
export const BUDGET_DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  check_budgets: {
    operationId: 'checkBudgets',
    summary: 'Check the budgets of a session or a user',
    tag: 'agents',
    about: 'Takes a `sessionId`, a `userId`, or both. An unknown one has spent nothing.',
    answer: budgets,
  },
}
