import type { PluginCommands } from '../../cli/command.ts'
import type { HostSallyport } from '../../cli/host-module.ts'
import type { TokenUses } from './token-uses.ts'

/** A host without the plugin has no `tokens.prune`. */
type TokensHost = HostSallyport & { readonly tokens: Partial<Pick<TokenUses, 'prune'>> }

export const AGENT_TOKENS_COMMANDS: PluginCommands = {
  prune: {
    about: 'uses of tokens',
    counted: 'tokenUses',
    remove: async ({ tokens }: TokensHost, old) => (await tokens.prune?.(old))?.pruned ?? 0,
  },
}
