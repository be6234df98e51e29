import { AGENT_TOKENS_SCREENS } from '../../plugins/agent-tokens/console/screens.tsx'
import { ALERTS_SCREENS } from '../../plugins/alerts/console/screens.tsx'
import { APPROVALS_SCREENS } from '../../plugins/approvals/console/screens.tsx'
import { CONSENT_SCREENS } from '../../plugins/consent/console/screens.tsx'
import { STATISTICS_SCREENS } from '../../plugins/statistics/console/screens.tsx'
import type { PluginScreens } from './section.ts'

/** Screens of all plugins. `npm run entries` writes this file from the folders. */
export const PLUGIN_SCREENS: readonly PluginScreens[] = [
  AGENT_TOKENS_SCREENS,
  ALERTS_SCREENS,
  APPROVALS_SCREENS,
  CONSENT_SCREENS,
  STATISTICS_SCREENS,
]
