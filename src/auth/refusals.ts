import type { Refusal } from '../ports/auth-verifier.ts'

/** Unknown, malformed, expired or revoked. */
export const INVALID_TOKEN: Refusal = Object.freeze({ refused: 'invalid_token' })

/** Valid, but not for this operation. */
export const INSUFFICIENT_SCOPE: Refusal = Object.freeze({ refused: 'insufficient_scope' })
