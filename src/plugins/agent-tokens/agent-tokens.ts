import { actionsOf } from '../../core/actions/call-action.ts'
import type { ActionCall } from '../../core/endpoints.ts'
import type { Plugin } from '../plugin.ts'
import { EXCHANGE, TOKEN_ACTIONS } from './actions.ts'
import { exchangeToken } from './exchange-token.ts'
import { tokenUseRecords } from './token-use-records.ts'
import { type TokenUses, tokenUses } from './token-uses.ts'
import { tokenUseLog } from './use-log.ts'

/** Members that {@link agentTokens} adds to a Sallyport. */
export interface AgentTokensApi {
  readonly tokens: TokenUses
}

/**
 * Exchanges session tokens for narrower ones, for sub-agents (`POST /api/agents/session/token`), and keeps a log of the uses of session tokens
 * for a week: `sallyport.tokens.uses()`, `GET /api/agents/tokens/uses`. Tokens of a verifier without `exchange` cannot be exchanged (404).
 *
 * @example
 * ```ts
 * const sallyport = createSallyport({ auth: sessionTokens({ keys }), store, plugins: [agentTokens()] })
 * const { items } = await sallyport.tokens.uses({ outcome: 'refused' })
 * ```
 */
export function agentTokens(): Plugin<'agentTokens', AgentTokensApi> {
  return {
    name: 'agentTokens',
    setup(core) {
      const { auth, store, clock } = core
      const records = tokenUseRecords(store)
      const log = tokenUseLog({ ...core, records })
      const tokens = tokenUses({ records, clock, log })
      const exchange = auth.exchange?.bind(auth)
      const exchanging = exchange && {
        run: ({ principal, request, onMade }: ActionCall) =>
          exchangeToken(principal, request, { exchange, clock, onExchanged: onMade }),
      }
      return {
        api: { tokens },
        actions: [{ ...EXCHANGE, ...exchanging }, ...actionsOf(TOKEN_ACTIONS, tokens)],
        on: { requestEnded: log.add },
        life: { flush: log.flush, hasWork: log.hasNoted },
      }
    },
  }
}
