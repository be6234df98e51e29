import type { ApprovalGrant, DispatchGrant, Operation, Principal } from '../model/principal.ts'

/** Reason why a token is refused. */
export interface Refusal {
  /** `invalid_token`: unknown, malformed, expired or revoked (401). `insufficient_scope`: valid, not for this operation (403). */
  readonly refused: 'invalid_token' | 'insufficient_scope'
  /**
   * Why, such as `expired`: 1 to 32 of `a-z 0-9 _`, beginning with a letter; another text is dropped. It is logged as `auth.refused`, and
   * never sent to the caller. Must not contain any part of the token.
   */
  readonly reason?: string | undefined
}

/** Limits of a token to sign for a sub-agent. The core has checked that they lie within those of the parent token. */
export interface NarrowedToken {
  /** Absent: it may not dispatch. */
  readonly dispatch?: DispatchGrant
  /** Absent: it may not ask for approval. */
  readonly approval?: ApprovalGrant
  readonly runEvents: number
  /** The only run that it can record. Absent: all runs of the session. */
  readonly runId?: string
  /** Latest end, epoch milliseconds. */
  readonly expiresAt: number
}

/** A token that {@link AuthVerifier.exchange} signed. */
export interface ExchangedToken {
  /** RFC 6750 `b64token`, as a JWT is. */
  readonly token: string
  /** Its id: the `id` of the principal that `verify` returns for it. 1 to 200 visible ASCII characters. */
  readonly jti: string
  /** Its end, epoch milliseconds: at most {@link NarrowedToken.expiresAt}. A later one is a fault, answered 500. */
  readonly expiresAt: number
}

/** Verifies bearer tokens. */
export interface AuthVerifier {
  /** Texts by `reason` of a refusal: what the host can do about it. `auth.refused` logs the text as `detail`. Default: none. */
  readonly reasons?: Readonly<Record<string, string>> | undefined
  /**
   * Returns the principal or a refusal, or a promise of it. Must compare secrets in constant time and must not throw for a bad token: a
   * throw, or no result within five seconds, means that the verifier is unavailable, and the answer is 503. The core refuses operations that the principal does not allow. A principal
   * with a `sessionId` must end within 24 hours: name its `expiresAt`. A later one is a fault, answered 500.
   *
   * @param token The text after `Bearer `, 1-4,096 visible ASCII characters.
   */
  verify(token: string, operation: Operation): Principal | Refusal | Promise<Principal | Refusal>
  /**
   * Signs a narrower token of the same tenant, session and user, whose principal names this token and its parents in `parents`. Refuses
   * a token that `verify` would refuse or that is not its own. Default: tokens cannot be exchanged (404).
   *
   * @param token A token that `verify` has accepted.
   */
  exchange?(token: string, narrowed: NarrowedToken): Promise<ExchangedToken | Refusal>
}
