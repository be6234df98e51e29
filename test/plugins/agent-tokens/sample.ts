import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

export const agentTokensSample: PluginSample = { create: () => agentTokens() }
