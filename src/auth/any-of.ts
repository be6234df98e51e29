import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import { INSUFFICIENT_SCOPE, INVALID_TOKEN } from './refusals.ts'

/**
 * Accepts a token that any of several verifiers accepts: `anyOf(appSecrets([…]), sessionTokens({ … }))`.
 *
 * Asks them in the order given, one after the other; the first principal wins. Put the most used, or the fastest to refuse, first.
 * When none accepts, the answer is `insufficient_scope` if any of them said so, otherwise `invalid_token`. When a verifier throws, the
 * others are still asked; if none accepts, the first error is thrown (503 `auth_unavailable`), because that verifier might have.
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
