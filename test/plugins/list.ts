import type { PluginSample } from '../support/plugin-sample.ts'
import { agentTokensSample } from './agent-tokens/sample.ts'
import { alertsSample } from './alerts/sample.ts'
import { approvalsSample } from './approvals/sample.ts'
import { consentSample } from './consent/sample.ts'
import { statisticsSample } from './statistics/sample.ts'

/** Samples of all plugins, by their names. `npm run entries` writes this file from the folders. */
export const PLUGIN_SAMPLES: Readonly<Record<string, PluginSample>> = {
  agentTokens: agentTokensSample,
  alerts: alertsSample,
  approvals: approvalsSample,
  consent: consentSample,
  statistics: statisticsSample,
}
