import type { CallAction } from '../core/actions/call-action.ts'
import type { ActionRoute } from '../core/endpoints.ts'
import type { CallDescription } from '../openapi/call-operations.ts'
import type { PostDescription } from '../openapi/post-operations.ts'
import { EXCHANGE, TOKEN_ACTIONS } from './agent-tokens/actions.ts'
import { EXCHANGE_DESCRIPTION, TOKEN_DESCRIPTIONS } from './agent-tokens/describe.ts'
import { BUDGET_ACTIONS } from './alerts/actions.ts'
import { BUDGET_DESCRIPTIONS } from './alerts/describe.ts'
import { PROFILE_ACTIONS, SUPPRESSION_ACTIONS } from './consent/actions.ts'
import { CONSENT_DESCRIPTIONS } from './consent/describe.ts'
import { STATISTICS_ACTIONS } from './statistics/actions.ts'
import { STATISTICS_DESCRIPTIONS } from './statistics/describe.ts'

/** Endpoints of a plugin, with their texts and answers. */
export interface PluginEndpoints {
  /** Actions that read their bodies themselves. */
  readonly posts?: readonly { readonly action: ActionRoute; readonly description: PostDescription }[]
  readonly calls: readonly CallAction[]
  readonly descriptions: Readonly<Record<string, CallDescription>>
}

/** Endpoints of all plugins: for the OpenAPI document and tests. */
export const PLUGIN_ENDPOINTS: readonly PluginEndpoints[] = [
  { calls: [...PROFILE_ACTIONS, ...SUPPRESSION_ACTIONS], descriptions: CONSENT_DESCRIPTIONS },
  { calls: BUDGET_ACTIONS, descriptions: BUDGET_DESCRIPTIONS },
  { calls: STATISTICS_ACTIONS, descriptions: STATISTICS_DESCRIPTIONS },
  {
    posts: [{ action: EXCHANGE, description: EXCHANGE_DESCRIPTION }],
    calls: TOKEN_ACTIONS,
    descriptions: TOKEN_DESCRIPTIONS,
  },
]
