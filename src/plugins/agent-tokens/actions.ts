import type { CallAction } from '../../core/actions/call-action.ts'
import { type Only, PAGE, READ } from '../../core/actions/row-parts.ts'
import type { ActionRoute } from '../../core/endpoints.ts'
import { pageOf } from '../../services/pagination.ts'
import type { TokenUses } from './token-uses.ts'

/** The exchange of a token. Its handler reads the body itself. */
export const EXCHANGE: ActionRoute = {
  name: 'session_token',
  operation: 'session_run',
  use: 'exchange',
  method: 'POST',
  path: '/api/agents/session/token',
  maxBytes: 65_536,
}

export const TOKEN_ACTIONS: readonly CallAction<TokenUses>[] = [
  {
    name: 'list_token_uses',
    ...READ,
    path: '/api/agents/tokens/uses',
    query: { jti: 'text', sessionId: 'text', outcome: 'text', ...PAGE },
    call: async (tokens, options: Only<TokenUses['uses']>) => pageOf(await tokens.uses(options)),
  },
]
