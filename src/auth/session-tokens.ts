import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { jwtVerify } from 'jose/jwt/verify'
import type { ConfigProblem } from '../errors.ts'
import type { Operation, Principal } from '../model/principal.ts'
import { arrayOf, fn, has, matching, whole, word } from '../options/checks.ts'
import { type Checks, type GivenOptions, nested, readOptions, required } from '../options/read-options.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import { INSUFFICIENT_SCOPE, INVALID_TOKEN } from './refusals.ts'
import { isJwtShaped, readClaims, SESSION_TOKEN_TYP, type SessionClaims } from './session-token-claims.ts'
import { keyChecks, type ReadyKey, readyKey, type SessionTokenKey } from './session-token-key.ts'

/** The identity of a token, for {@link SessionTokensOptions.isRevoked}. */
export interface SessionTokenIdentity {
  /** The token's own id. */
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
}

/** Options of `sessionTokens`. */
export interface SessionTokensOptions {
  /**
   * The keys to verify with, by `kid`. At least one. To replace one without a gap: add the new one here and sign with it; when
   * the last token of the old one has expired, remove the old one or give it a `notAfter`.
   */
  readonly keys: readonly SessionTokenKey[]
  /** The `aud` claim must be or contain it. */
  readonly audience: string
  /** The `iss` claim must be it. Default: any, or none. */
  readonly issuer?: string
  /** The longest lifetime (`exp` - `iat`) that is accepted, in seconds, 1 to 86,400. Default 3,600. */
  readonly maxAgeSeconds?: number
  /** How far the issuer's clock may be off, in seconds, 0 to 60. Default 5. */
  readonly clockToleranceSeconds?: number
  /**
   * Whether an otherwise valid token was revoked. If it throws, the call is answered 503 `auth_unavailable`. Default: no token is
   * revoked before it expires.
   */
  isRevoked?(token: SessionTokenIdentity): boolean | Promise<boolean>
  /** Gives the time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

const CHECKS: Checks<SessionTokensOptions> = {
  keys: required(arrayOf(nested(keyChecks('verify')), 'must hold at least one { kid, key }', 1)),
  audience: required(word),
  issuer: word,
  maxAgeSeconds: whole(1, 86_400),
  clockToleranceSeconds: matching(
    (value) => typeof value === 'number' && value >= 0 && value <= 60,
    'must be a number from 0 to 60',
  ),
  isRevoked: fn,
  clock: has('now'),
}

/**
 * Authenticates an agent for one session: the verifier for tokens that untrusted code holds. Make them with
 * `issueSessionToken`, or with any JWT library (RFC 7519).
 *
 * A token must be a signed JWT whose header has `typ` `sallyport-session+jwt`, the `kid` of one of the keys and the `alg` of that key. Its
 * claims: `aud`, `iat`, `exp`, `jti`, and `sid`, the session's id (1 to 200 visible ASCII characters, as is `jti`). Optional are `tnt`, the
 * tenant (default `default`); `sub`, the user whose runs they are (1 to 200 characters); and `grants`:
 * `{ dispatch: { events, channels, recipients, maxDispatches } }`, three lists and an optional number.
 *
 * The principal's id is `jti`. It can record runs of session `sid`. Without a dispatch grant, dispatching is `insufficient_scope`.
 * Everything else is `invalid_token`: a wrong signature, another algorithm, `none`, an unknown or ended key, expiry, a lifetime over the
 * limit, a missing or malformed claim, revocation. No string makes `verify` throw: it throws only when `isRevoked` does, or when the
 * runtime cannot import a key. A string without the shape of a JWT is refused at once.
 *
 * @throws SallyportError `option_invalid`, with all problems at once and without any key: a key is unset, too short for HS256, not
 * for its `alg`, private or a duplicate, there is none, or another option is out of its range.
 */
export function sessionTokens(options: SessionTokensOptions): AuthVerifier {
  const read = readOptions('sessionTokens', options, CHECKS, repeatedKids)
  const { audience, issuer, maxAgeSeconds = 3_600, clockToleranceSeconds = 5, isRevoked } = read
  const { clock = { now: Date.now } } = read
  const keys = new Map(read.keys.map((key) => [key.kid, readyKey(key, 'verify')]))
  const expected = {
    typ: SESSION_TOKEN_TYP,
    audience,
    ...(issuer !== undefined && { issuer }),
    clockTolerance: clockToleranceSeconds,
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

/** The key of the header's `kid`, if the header's `alg` is that of the key. */
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

function repeatedKids({ keys }: GivenOptions): ConfigProblem[] {
  const kids: readonly unknown[] = Array.isArray(keys) ? keys.map((key) => Object(key).kid) : []
  return kids.flatMap((kid, index) =>
    kid !== undefined && kids.indexOf(kid) < index
      ? [{ field: `keys[${index}].kid`, detail: 'is the kid of a key before it' }]
      : [],
  )
}
