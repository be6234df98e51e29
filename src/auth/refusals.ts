import type { Refusal } from '../ports/auth-verifier.ts'

/** Why a credential is refused. `docs/session-tokens.md` explains each reason. */
export type RefusalReason =
  | 'malformed'
  | 'unknown_secret'
  | 'unknown_kid'
  | 'algorithm'
  | 'key_expired'
  | 'signature'
  | 'type'
  | 'audience'
  | 'issuer'
  | 'claims'
  | 'lifetime'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'

// @__NO_SIDE_EFFECTS__
export function invalidToken(reason: RefusalReason): Refusal {
  return { refused: 'invalid_token', reason }
}

/** Refusal of a credential whose kind the verifier does not know. */
export const MALFORMED: Refusal = Object.freeze(invalidToken('malformed'))

export const INSUFFICIENT_SCOPE: Refusal = Object.freeze({ refused: 'insufficient_scope' })
