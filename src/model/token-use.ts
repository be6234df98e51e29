import type { Operation } from './principal.ts'

/** Operation of a request with a session token. A batch is a `session_run`. */
export type TokenOperation = Operation | 'exchange'

/** Uses of a session token: one request, or several equal ones. */
export interface TokenUse {
  readonly useId: string
  readonly jti: string
  readonly tenant: string
  readonly sessionId: string
  readonly operation: TokenOperation
  readonly outcome: 'accepted' | 'refused'
  /** With `refused`: the `code` of the problem. */
  readonly code?: string
  /** Accepted: id of the dispatch, of the run, or of the exchanged token. Refused: the `requestId` of the problem, if it was handled. */
  readonly id?: string
  /** Number of equal requests, whose first it describes. */
  readonly times: number
  /** Epoch milliseconds, by the store's clock. */
  readonly at: number
}

/** Public view of a {@link TokenUse}. */
export interface TokenUseView extends Omit<TokenUse, 'useId' | 'tenant' | 'at'> {
  /** RFC 3339. */
  readonly time: string
}
