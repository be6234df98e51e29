import type { PluginOptionRows } from '../options/option-rows.ts'
import { agentTokensOptions } from './agent-tokens/options.ts'
import { alertsOptions } from './alerts/options.ts'
import { approvalsOptions } from './approvals/options.ts'
import { consentOptions } from './consent/options.ts'
import { statisticsOptions } from './statistics/options.ts'

/** Options of all plugins, for the table of options. `npm run entries` writes this file from the folders. */
export const PLUGIN_OPTIONS: readonly PluginOptionRows[] = [
  agentTokensOptions,
  alertsOptions,
  approvalsOptions,
  consentOptions,
  statisticsOptions,
]
