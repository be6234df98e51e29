import type { DescribedEndpoints } from '../openapi/described-endpoints.ts'
import { AGENT_TOKENS_ENDPOINTS } from './agent-tokens/describe.ts'
import { ALERTS_ENDPOINTS } from './alerts/describe.ts'
import { APPROVALS_ENDPOINTS } from './approvals/describe.ts'
import { CONSENT_ENDPOINTS } from './consent/describe.ts'
import { STATISTICS_ENDPOINTS } from './statistics/describe.ts'

/** Endpoints of all plugins: for the OpenAPI document and tests. `npm run entries` writes this file from the folders. */
export const PLUGIN_ENDPOINTS: readonly DescribedEndpoints[] = [
  AGENT_TOKENS_ENDPOINTS,
  ALERTS_ENDPOINTS,
  APPROVALS_ENDPOINTS,
  CONSENT_ENDPOINTS,
  STATISTICS_ENDPOINTS,
]
