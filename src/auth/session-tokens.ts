import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { jwtVerify } from 'jose/jwt/verify'
import type { Operation, Principal } from '../model/principal.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import { INSUFFICIENT_SCOPE, INVALID_TOKEN } from './refusals.ts'
import { readClaims, type SessionClaims } from './session-token-claims.ts'
import { isJwtShaped, SESSION_TOKEN_TYP } from './session-token-format.ts'
import type { ReadyKey } from './session-token-key.ts'
import { checkSessionTokens, type SessionTokensOptions } from './session-tokens-options.ts'

/**
 * Lets an agent in for one session: the verifier for tokens that are handed to code you do not trust. Make them with
 * `issueSessionToken`, or with any JWT library (RFC 7519).
 *
 * A token must be a JWT whose header has `typ` `sallyport-session+jwt`, the `kid` of one of the keys and the `alg` of
 * exactly that key; signed, with the claims `aud`, `iat`, `exp`, `jti`, and `sid`, the session's id (1 to 200 visible ASCII
 * characters, as is `jti`). `tnt` is the tenant, `default` if absent; `sub` the user whose runs they are (1 to 200 characters), if
 * any; and `grants` is what it may do: `{ dispatch: { events, channels, recipients, maxDispatches } }`, three lists and, if it is to be
 * counted, a number.
 *
 * The principal's id is `jti`. With it, runs of session `sid` can be recorded. Without a dispatch grant, dispatching is
 * `insufficient_scope`. Everything else is `invalid_token`: a bad signature, another algorithm, `none`, an unknown or ended
 * key, expiry, a lifetime over the limit, a missing or malformed claim, revocation. No string makes it throw: only a
 * revocation that cannot be looked up does, and a key that the runtime cannot import. What does not have the shape of a JWT
 * is refused at once.
 *
 * @throws SallyportError `option_invalid`, with all faults at once and no key among them: a key is unset, too short for
 * HS256, not for its `alg`, private or a duplicate, there is none, or another option is out of its range.
 */
export function sessionTokens(options: SessionTokensOptions): AuthVerifier {
  const { keys, maxAgeSeconds, clockTolerance, ...others } = checkSessionTokens(options)
  const { audience, issuer, clock = { now: Date.now }, isRevoked } = others
  const expected = {
    typ: SESSION_TOKEN_TYP,
    audience,
    ...(issuer !== undefined && { issuer }),
    clockTolerance,
    maxTokenAge: maxAgeSeconds,
  }

  const claimsOf = async (token: string, key: ReadyKey, now: number): Promise<SessionClaims | undefined> => {
    const cryptoKey = await key.load()
    try {
      const { payload } = await jwtVerify(token, cryptoKey, {
        ...expected,
        algorithms: [key.alg],
        currentDate: new Date(now),
      })
      return readClaims(payload, maxAgeSeconds)
    } catch {
      return undefined
    }
  }

  return {
    async verify(token: string, operation: Operation): Promise<Principal | Refusal> {
      const key = keyOf(token, keys)
      if (key === undefined) return INVALID_TOKEN
      const now = clock.now()
      if (now > key.notAfter) return INVALID_TOKEN
      const claims = await claimsOf(token, key, now)
      if (claims === undefined) return INVALID_TOKEN
      const { jti, sessionId, tenant, userId, dispatch } = claims
      if (await isRevoked?.call(options, { jti, sessionId, tenant })) return INVALID_TOKEN
      if (operation === 'dispatch' && dispatch === undefined) return INSUFFICIENT_SCOPE
      return { id: jti, tenant, sessionId, ...(userId !== undefined && { userId }), ...(dispatch && { dispatch }) }
    },
  }
}

/** The key that the header names, if the header also names its algorithm. */
function keyOf(token: string, keys: ReadonlyMap<string, ReadyKey>): ReadyKey | undefined {
  if (!isJwtShaped(token)) return undefined
  try {
    const { kid, alg } = decodeProtectedHeader(token)
    const key = typeof kid === 'string' ? keys.get(kid) : undefined
    return key?.alg === alg ? key : undefined
  } catch {
    return undefined
  }
}
