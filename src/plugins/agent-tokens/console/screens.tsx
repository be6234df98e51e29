import type { PluginScreens } from '../../../console/app/section.ts'
import { TokensScreen } from './tokens.tsx'

export const AGENT_TOKENS_SCREENS: PluginScreens = {
  sections: [{ path: 'tokens', label: 'Tokens', read: 'list_token_uses', order: 80, screen: () => <TokensScreen /> }],
}
