import type { ApprovalGrant, DispatchGrant } from '../model/principal.ts'
import type { TokenExchange, TokenGrants } from '../model/token-exchange.ts'
import type { Notes } from './request-notes.ts'

export interface TokenRequests {
  readonly TokenExchangeRequest: Notes<TokenExchange>
  readonly TokenGrants: Notes<TokenGrants>
  readonly DispatchGrant: Notes<DispatchGrant>
  readonly ApprovalGrant: Notes<ApprovalGrant>
}

/** An unknown member may be a limit. */
const CLOSED = { additionalProperties: false } as const

export const TOKEN_NOTES: TokenRequests = {
  TokenExchangeRequest: {
    about: { description: 'What a sub-agent may do. Unknown members are refused.', ...CLOSED },
    fields: {
      grants: {},
      expiresInMs: { description: 'Lifetime; cut to that of the exchanged token. Default: 900,000 (15 minutes).' },
      runId: { description: 'The only run that the token can record. Default: that of the exchanged token, if any.' },
    },
  },
  TokenGrants: {
    about: { description: 'Grants within those of the exchanged token.', ...CLOSED },
    fields: {
      dispatch: {},
      approval: {},
      runEvents: {
        description: 'How many run events its posts may cause. Default: 20, or fewer if the token has fewer.',
      },
    },
  },
  DispatchGrant: {
    about: { description: 'Dispatches of listed values only. An empty list permits nothing.', ...CLOSED },
    fields: {
      events: {},
      channels: {},
      recipients: {},
      maxDispatches: {
        description: 'How many; they also count for the exchanged token. Default: as many as that one.',
      },
    },
  },
  ApprovalGrant: {
    about: { description: 'Requests for approval by listed events only. An empty list permits nothing.', ...CLOSED },
    fields: {
      events: {},
      maxApprovals: {
        description: 'How many; they also count for the exchanged token. Default: as many as that one.',
      },
    },
  },
}
