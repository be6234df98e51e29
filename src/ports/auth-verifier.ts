import type { Operation, Principal } from '../model/principal.ts'

/** Why a token was turned away. */
export interface Refusal {
  /** `invalid_token`: unknown, malformed, expired or revoked (401). `insufficient_scope`: good, but not for this (403). */
  readonly refused: 'invalid_token' | 'insufficient_scope'
}

/** Tells who a bearer token belongs to. */
export interface AuthVerifier {
  /**
   * Resolves to the principal, or to a refusal. Must compare secrets in constant time, and must refuse rather than throw
   * for any string at all: a throw means that the verifier itself is unavailable and is answered 503.
   *
   * @param token What stood after `Bearer `, 1-4,096 visible ASCII characters.
   */
  verify(token: string, operation: Operation): Promise<Principal | Refusal>
}
