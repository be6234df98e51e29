import type { CallAction } from '../../core/actions/call-action.ts'
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
    operation: 'read',
    method: 'GET',
    path: '/api/agents/tokens/uses',
    maxBytes: 0,
    query: { jti: 'text', sessionId: 'text', outcome: 'text', cursor: 'text', limit: 'limit' },
    call: async (tokens, options: NonNullable<Parameters<TokenUses['uses']>[0]>) => pageOf(await tokens.uses(options)),
  },
]
