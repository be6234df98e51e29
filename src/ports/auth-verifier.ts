import type { Operation, Principal } from '../model/principal.ts'

/** Why a token is refused. */
export interface Refusal {
  /** `invalid_token`: unknown, malformed, expired or revoked (401). `insufficient_scope`: valid, but not for this operation (403). */
  readonly refused: 'invalid_token' | 'insufficient_scope'
}

/** Verifies bearer tokens. */
export interface AuthVerifier {
  /**
   * Resolves to the principal, or to a refusal. Must compare secrets in constant time. Must refuse every bad string and not
   * throw: a throw means that the verifier is unavailable, and the answer is 503.
   *
   * @param token The text after `Bearer `, 1-4,096 visible ASCII characters.
   */
  verify(token: string, operation: Operation): Promise<Principal | Refusal>
}
