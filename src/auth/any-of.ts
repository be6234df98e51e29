import type { Awaitable } from '../model/awaitable.ts'
import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import { wrongReturn } from '../options/wrong-return.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'

/**
 * Accepts a token that any of several verifiers accepts: `anyOf(appSecrets([…]), sessionTokens({ … }))`. Calls them in the given
 * order; the first principal wins. When none accepts, the answer is `insufficient_scope` if any of them returned it, otherwise
 * `invalid_token`, with the `reason` of the verifier that recognised the credential best. When a verifier throws, or returns neither a
 * principal nor a refusal, the others are still called; if none accepts, the first error is thrown (503 `auth_unavailable`). A token is
 * exchanged by the first verifier that does not refuse it; refusals and errors count likewise.
 *
 * @throws SallyportError `option_invalid`: no verifier was given, or one is not a verifier.
 */
export function anyOf(...verifiers: readonly AuthVerifier[]): AuthVerifier {
  checkArguments('anyOf', verifiers, has('appSecrets(…), sessionTokens(…) or an object { verify(token) }', 'verify'))

  const exchangers = verifiers.flatMap(({ exchange }, at) => (exchange ? [exchange.bind(verifiers[at])] : []))
  return {
    reasons: Object.assign({}, ...verifiers.map(({ reasons }) => reasons)),
    verify: (token, operation) => firstOf('verify', verifiers, (verifier) => verifier.verify(token, operation)),
    ...(exchangers.length > 0 && {
      exchange: (token, narrowed) => firstOf('exchange', exchangers, (exchange) => exchange(token, narrowed)),
    }),
  }
}

/** The first answer that is no refusal. Otherwise throws the first error, or returns the first refusal of the highest rank. */
async function firstOf<Part, Answer extends object>(
  method: keyof typeof EXPECTED,
  parts: readonly Part[],
  call: (part: Part) => Awaitable<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const faults: unknown[] = []
  const refusals: Refusal[] = []
  for (const part of parts) {
    try {
      const answer = await call(part)
      if (Object(answer) !== answer) throw wrongReturn(`${method}() of a verifier in anyOf()`, answer, EXPECTED[method])
      if (!('refused' in answer)) return answer
      refusals.push(answer)
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (faults.length > 0) throw faults[0]
  return refusals.reduce((best, refusal) => (rankOf(refusal) > rankOf(best) ? refusal : best))
}

const EXPECTED = {
  verify: "a principal { id, tenant, … }, or { refused: 'invalid_token' }",
  exchange: "{ token, jti, expiresAt }, or { refused: 'invalid_token' }",
}

/** How well the verifier knew the credential: not its kind, perhaps, its kind, the credential itself. */
function rankOf({ refused, reason }: Refusal): number {
  if (refused === 'insufficient_scope') return 4
  switch (reason) {
    case 'malformed':
      return 0
    case undefined:
      return 1
    case 'unknown_secret':
    case 'unknown_kid':
      return 2
    default:
      return 3
  }
}
