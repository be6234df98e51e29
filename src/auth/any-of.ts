import type { Awaitable } from '../model/awaitable.ts'
import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import { INSUFFICIENT_SCOPE, INVALID_TOKEN } from './refusals.ts'

/**
 * Accepts a token that any of several verifiers accepts: `anyOf(appSecrets([…]), sessionTokens({ … }))`. Calls them in the given
 * order; the first principal wins. When none accepts, the answer is `insufficient_scope` if any of them returned it, otherwise
 * `invalid_token`. When a verifier throws, the others are still called; if none accepts, the first error is thrown (503
 * `auth_unavailable`). A token is exchanged by the first verifier that does not refuse it; refusals and errors count likewise.
 *
 * @throws SallyportError `option_invalid`: no verifier was given, or one is not a verifier.
 */
export function anyOf(...verifiers: readonly AuthVerifier[]): AuthVerifier {
  checkArguments('anyOf', verifiers, has('appSecrets(…), sessionTokens(…) or an object { verify(token) }', 'verify'))

  const exchangers = verifiers.flatMap(({ exchange }, at) => (exchange ? [exchange.bind(verifiers[at])] : []))
  return {
    verify: (token, operation) => firstOf(verifiers, (verifier) => verifier.verify(token, operation)),
    ...(exchangers.length > 0 && {
      exchange: (token, narrowed) => firstOf(exchangers, (exchange) => exchange(token, narrowed)),
    }),
  }
}

/** The first answer that is no refusal. Otherwise throws the first error, or returns the refusal with the most precedence. */
async function firstOf<Part, Answer extends object>(
  parts: readonly Part[],
  call: (part: Part) => Awaitable<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const faults: unknown[] = []
  let refusal = INVALID_TOKEN
  for (const part of parts) {
    try {
      const answer = await call(part)
      if (!('refused' in answer)) return answer
      if (answer.refused === 'insufficient_scope') refusal = INSUFFICIENT_SCOPE
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw faults[0]
  return refusal
}
