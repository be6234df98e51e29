import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { jwtVerify } from 'jose/jwt/verify'
import type { ConfigProblem } from '../errors.ts'
import type { Operation, ParentToken, Principal } from '../model/principal.ts'
import { arrayOf, fn, matching, nowClock, whole, word } from '../options/checks.ts'
import { type Checks, type GivenOptions, nested, readOptions, required } from '../options/read-options.ts'
import { shown } from '../options/shown-value.ts'
import type { AuthVerifier, ExchangedToken, NarrowedToken, Refusal } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import { INSUFFICIENT_SCOPE, invalidToken, MALFORMED, REASONS } from './refusals.ts'
import {
  isJwtShaped,
  readClaims,
  SESSION_TOKEN_TYP,
  type SessionClaims,
  type SessionTokenGrants,
} from './session-token-claims.ts'
import { keyChecks, keyLoader, type ReadyKey, readyKey, type SessionTokenKey } from './session-token-key.ts'
import { reasonOf } from './session-token-reason.ts'
import { signSessionToken } from './sign-session-token.ts'

/** Identity of a token, for {@link SessionTokensOptions.isRevoked}. */
export interface SessionTokenIdentity {
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
}

/** Options of `sessionTokens`. */
export interface SessionTokensOptions {
  /** Keys to verify with, by `kid`; at least one. To rotate, add the new key; remove the old one when its last token expired. */
  readonly keys: readonly SessionTokenKey[]
  /** The `aud` claim must be or contain it. */
  readonly audience: string
  /** The `iss` claim must be equal. Default: any, or none. */
  readonly issuer?: string
  /** Maximum accepted lifetime (`exp` - `iat`) in seconds, 1 to 86,400. Default: 3,600. */
  readonly maxAgeSeconds?: number
  /** Tolerance for the issuer's clock in seconds, 0 to 60. Default: 5. */
  readonly clockToleranceSeconds?: number
  /**
   * Signs exchanged tokens: its `kid` and `alg` must be those of one of `keys`. Default: the HS256 key of the exchanged token; tokens of
   * other algorithms cannot be exchanged.
   */
  readonly exchangeKey?: SessionTokenKey
  /**
   * True for a revoked token; an exchanged one is asked for with each of its parents. A throw is answered 503 `auth_unavailable`.
   * Default: tokens end by expiry and `sallyport.tokens.revoke`.
   */
  isRevoked?(token: SessionTokenIdentity): boolean | Promise<boolean>
  /** Default: system time. */
  readonly clock?: Pick<Clock, 'now'>
}

const CHECKS: Checks<SessionTokensOptions> = {
  keys: required(arrayOf(nested(keyChecks('verify')), 'must be a list of at least one key: [{ kid, key }]', 1)),
  audience: required(word),
  issuer: word,
  maxAgeSeconds: whole(1, 86_400),
  clockToleranceSeconds: matching(
    (value) => typeof value === 'number' && value >= 0 && value <= 60,
    'must be a number from 0 to 60',
    shown,
  ),
  exchangeKey: nested(keyChecks('sign')),
  isRevoked: fn,
  clock: nowClock,
}

/**
 * Authenticates an agent for one session, by a token that untrusted code may hold. Issue tokens with `issueSessionToken` or any JWT
 * library (RFC 7519).
 *
 * A token is a signed JWT whose header has `typ` `sallyport-session+jwt`, the `kid` of one of the keys and the `alg` of that key.
 * Required claims: `aud`, `iat`, `exp`, `jti`, and `sid`, the session's id (1 to 200 visible ASCII characters, as is `jti`).
 * Optional claims: `tnt`, the tenant (default `default`); `sub`, the user of the runs (1 to 200 characters); and `grants`:
 * `{ dispatch: { events, channels, recipients, maxDispatches }, runEvents }`, three lists and two optional numbers. Exchanged tokens
 * also have `run_id`, `parents`, `since` and `act` (RFC 8693).
 *
 * The principal's id is `jti`. It can record runs of session `sid`, and dispatch only with a dispatch grant. Every fault is
 * `invalid_token` with a `reason` for the log: a wrong signature, another algorithm, `none`, an unknown or ended key, expiry, a lifetime
 * over the limit, a missing or malformed claim, revocation. `verify` throws only when `isRevoked` throws, or when the runtime
 * cannot import a key.
 *
 * @throws SallyportError `option_invalid`, with all problems at once and without any key: a key is unset, too short for HS256, not
 * for its `alg`, private or a duplicate, there is none, or another option is out of range.
 */
export function sessionTokens(options: SessionTokensOptions): AuthVerifier {
  const read = readOptions('sessionTokens', options, CHECKS, keyProblems)
  const { audience, issuer, maxAgeSeconds = 3_600, clockToleranceSeconds = 5, isRevoked } = read
  const { clock = { now: Date.now } } = read
  const keys = new Map(read.keys.map((key) => [key.kid, readyKey(key, 'verify')]))
  const signers = signersOf(read)
  const expected = {
    typ: SESSION_TOKEN_TYP,
    audience,
    ...(issuer !== undefined && { issuer }),
    clockTolerance: clockToleranceSeconds,
    maxTokenAge: maxAgeSeconds,
  }

  const claimsOf = async (token: string, key: ReadyKey): Promise<SessionClaims | Refusal> => {
    const now = clock.now()
    if (now > key.notAfter) return invalidToken('key_expired')
    const cryptoKey = await key.load()
    try {
      const { payload } = await jwtVerify(token, cryptoKey, {
        ...expected,
        algorithms: [key.alg],
        currentDate: new Date(now),
      })
      const claims = readClaims(payload, maxAgeSeconds)
      return typeof claims === 'string' ? invalidToken(claims) : claims
    } catch (error) {
      return invalidToken(reasonOf(error))
    }
  }

  /** The claims of a token that is valid and not revoked, and its key. */
  async function validate(token: string): Promise<{ readonly claims: SessionClaims; readonly kid: string } | Refusal> {
    const key = keyOf(token, keys)
    if ('refused' in key) return key
    const claims = await claimsOf(token, key)
    if ('refused' in claims) return claims
    return (await isAnyRevoked(claims)) ? invalidToken('revoked') : { claims, kid: key.kid }
  }

  async function isAnyRevoked({ jti, parents, sessionId, tenant }: SessionClaims): Promise<boolean> {
    if (!isRevoked) return false
    for (const id of [jti, ...parents.map((parent) => parent.id)]) {
      if (await isRevoked.call(options, { jti: id, sessionId, tenant })) return true
    }
    return false
  }

  async function exchange(token: string, narrowed: NarrowedToken): Promise<ExchangedToken | Refusal> {
    const found = await validate(token)
    if ('refused' in found) return found
    const { claims, kid } = found
    const signer = signers.get(kid)
    if (signer === undefined) return INSUFFICIENT_SCOPE
    const issuedAt = Math.floor(clock.now() / 1_000)
    const latest = Math.floor(Math.min(narrowed.expiresAt, signer.notAfter) / 1_000)
    const expiresAt = Math.min(latest, Math.floor(claims.expiresAt), issuedAt + maxAgeSeconds)
    if (expiresAt <= issuedAt) return invalidToken('expired')
    const { sessionId, tenant, userId, since } = claims
    const { dispatch, approval, runEvents, runId } = narrowed
    const jti = crypto.randomUUID()
    const signed = await signSessionToken(
      {
        ...{ jti, sessionId, tenant, userId, runId, since, issuedAt, expiresAt, audience, issuer },
        grants: { ...(dispatch && { dispatch }), ...(approval && { approval }), runEvents },
        parents: parentsBelow(claims),
      },
      signer,
    )
    return { token: signed, jti, expiresAt: expiresAt * 1_000 }
  }

  return {
    reasons: REASONS,
    async verify(token: string): Promise<Principal | Refusal> {
      const found = await validate(token)
      return 'refused' in found ? found : principalOf(found.claims)
    },
    ...(signers.size > 0 && { exchange }),
  }
}

/** Keys that sign tokens exchanged from a token of each `kid`. */
function signersOf({ keys, exchangeKey }: SessionTokensOptions): ReadonlyMap<string, ReadyKey> {
  const own = exchangeKey && readyKey(exchangeKey, 'sign')
  const signers = keys.flatMap((key): (readonly [string, ReadyKey])[] => {
    if (own) return [[key.kid, own]]
    const { alg = 'HS256' } = key
    const canSign = alg === 'HS256' && typeof keyLoader(key.key, alg, 'sign') === 'function'
    return canSign ? [[key.kid, readyKey(key, 'sign')]] : []
  })
  return new Map(signers)
}

function principalOf({ jti, sessionId, tenant, userId, grants, ...claims }: SessionClaims): Principal {
  const { runId, parents, since, expiresAt } = claims
  return {
    ...{ id: jti, tenant, sessionId },
    operations: grantedOperations(grants),
    ...(userId !== undefined && { userId }),
    ...grants,
    ...(runId !== undefined && { runId }),
    ...(parents.length > 0 && { parents }),
    ...{ issuedAt: since, expiresAt: expiresAt * 1_000 },
  }
}

function grantedOperations({ dispatch, approval }: SessionTokenGrants): readonly Operation[] {
  return [...(dispatch ? (['dispatch'] as const) : []), 'session_run', ...(approval ? (['approval'] as const) : [])]
}

/** The parents of a token that is exchanged from this one: this one, then its own. */
function parentsBelow({ jti, grants, parents }: SessionClaims): readonly ParentToken[] {
  const { dispatch, approval, runEvents } = grants
  const maxDispatches = dispatch?.maxDispatches
  const maxApprovals = approval?.maxApprovals
  const own = {
    id: jti,
    ...(maxDispatches !== undefined && { maxDispatches }),
    ...(maxApprovals !== undefined && { maxApprovals }),
    ...(runEvents !== undefined && { runEvents }),
  }
  return [own, ...parents]
}

/** Finds the key of the header's `kid`, if the header's `alg` is that of the key. */
function keyOf(token: string, keys: ReadonlyMap<string, ReadyKey>): ReadyKey | Refusal {
  if (!isJwtShaped(token)) return MALFORMED
  try {
    const { kid, alg } = decodeProtectedHeader(token)
    const key = typeof kid === 'string' ? keys.get(kid) : undefined
    if (key === undefined) return invalidToken('unknown_kid')
    return key.alg === alg ? key : invalidToken('algorithm')
  } catch {
    return MALFORMED
  }
}

function keyProblems({ keys, exchangeKey }: GivenOptions): ConfigProblem[] {
  const known: readonly Partial<SessionTokenKey>[] = Array.isArray(keys) ? keys.map(Object) : []
  const kids = known.map(({ kid }) => kid)
  const repeated = kids.flatMap((kid, index) =>
    kid !== undefined && kids.indexOf(kid) < index
      ? [{ field: `keys[${index}].kid`, detail: 'is the kid of a key before it; give each key its own' }]
      : [],
  )
  // Without keys, that is the problem.
  if (known.length === 0) return repeated
  const { kid, alg = 'HS256' }: Partial<SessionTokenKey> = Object(exchangeKey)
  const isKnown = known.some((key) => key.kid === kid && (key.alg ?? 'HS256') === alg)
  if (kid === undefined || isKnown) return repeated
  return [...repeated, { field: 'exchangeKey.kid', detail: 'must be the kid of one of the keys, with the same alg' }]
}
