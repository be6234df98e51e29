import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import { INSUFFICIENT_SCOPE, INVALID_TOKEN } from './refusals.ts'

/**
 * Accepts what any of several verifiers accepts: `anyOf(appSecrets([…]), sessionTokens({ … }))`.
 *
 * They are asked in the order given, one after the other, and the first principal wins: put the one that is asked most, or
 * that refuses quickest, first. When none accepts, the answer is `insufficient_scope` if any of them said so, otherwise
 * `invalid_token`. A verifier that throws does not keep the others from accepting; when none does, what the first of them
 * threw is thrown (503 `auth_unavailable`), because it might have.
 *
 * @throws SallyportError `option_invalid`: no verifier was given, or one is not a verifier.
 */
export function anyOf(...verifiers: readonly AuthVerifier[]): AuthVerifier {
  checkArguments('anyOf', verifiers, has('verify'))

  return {
    async verify(token, operation) {
      const faults: unknown[] = []
      let refusal = INVALID_TOKEN
      for (const verifier of verifiers) {
        try {
          const answer = await verifier.verify(token, operation)
          if (!('refused' in answer)) return answer
          if (answer.refused === 'insufficient_scope') refusal = INSUFFICIENT_SCOPE
        } catch (fault) {
          faults.push(fault)
        }
      }
      if (faults.length > 0) throw faults[0]
      return refusal
    },
  }
}
