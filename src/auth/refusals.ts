import type { Refusal } from '../ports/auth-verifier.ts'

export const INVALID_TOKEN: Refusal = Object.freeze({ refused: 'invalid_token' })

export const INSUFFICIENT_SCOPE: Refusal = Object.freeze({ refused: 'insufficient_scope' })
