import { AGENT_TOKENS_COMMANDS } from '../plugins/agent-tokens/commands.ts'
import { APPROVALS_COMMANDS } from '../plugins/approvals/commands.ts'
import { STATISTICS_COMMANDS } from '../plugins/statistics/commands.ts'
import type { PluginCommands } from './command.ts'

/** Additions of all plugins to commands. `npm run entries` writes this file from the folders. */
export const PLUGIN_COMMANDS: readonly PluginCommands[] = [
  AGENT_TOKENS_COMMANDS,
  APPROVALS_COMMANDS,
  STATISTICS_COMMANDS,
]
