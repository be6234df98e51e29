import type { ApprovalGrant, DispatchGrant } from './principal.ts'

/** Grants of a token for a sub-agent. They must lie within those of the parent token. */
export interface TokenGrants {
  /** Allowed dispatches. Default: none. Without `maxDispatches`, that of the parent. */
  readonly dispatch?: DispatchGrant
  /** Allowed requests for approval. Default: none. Without `maxApprovals`, that of the parent. */
  readonly approval?: ApprovalGrant
  /** Maximum run events that its posts may cause, 0 to 1,000. Default: 20, or fewer if the parent has fewer. */
  readonly runEvents?: number
}

/** Body of `POST /api/agents/session/token`. */
export interface TokenExchange {
  readonly grants: TokenGrants
  /** Lifetime in milliseconds, 1,000 to 86,400,000; never longer than the parent's. Default: 900,000 (15 minutes). */
  readonly expiresInMs?: number
  /** The only run that the token can record: the sub-agent's own. Default: that of the parent token, or all of the session. */
  readonly runId?: string
}

/** Answer to `POST /api/agents/session/token`. */
export interface TokenExchangeAnswer {
  readonly token: string
  /** RFC 3339. */
  readonly expiresAt: string
}
