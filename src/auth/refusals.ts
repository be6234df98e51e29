import type { RefusalReason } from '../model/refusal-reason.ts'
import type { Refusal } from '../ports/auth-verifier.ts'

// @__NO_SIDE_EFFECTS__
export function invalidToken(reason: RefusalReason): Refusal {
  return { refused: 'invalid_token', reason }
}

/** Refusal of a credential whose kind the verifier does not know. */
export const MALFORMED: Refusal = Object.freeze(invalidToken('malformed'))

export const INSUFFICIENT_SCOPE: Refusal = Object.freeze({ refused: 'insufficient_scope' })
